"""Extensions that exist for one test only."""

from collections.abc import Mapping

import pytest

from karat import discovery
from karat.extension import Extension


def install(monkeypatch: pytest.MonkeyPatch, *extensions: Extension) -> None:
    """Add *extensions* to this process until the end of the test."""
    added = [discovery.InstalledExtension(each.name, "a test", each) for each in extensions]
    everything = [*discovery.installed(), *added]
    monkeypatch.setattr(discovery._State, "found", tuple(discovery.checked(everything)))


def install_objects(
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    objects: Mapping[str, str],
    aliases: Mapping[str, str] | None = None,
) -> None:
    """Add an extension with *objects* of one kind: names with their ``module:attribute``."""
    record = Extension(f"a {kind}", "For a test.", adds={kind: objects})
    install(monkeypatch, record._replace(aliases={kind: aliases} if aliases else {}))
