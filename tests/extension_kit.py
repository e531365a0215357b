"""Extensions that exist for one test only."""

import sys
from collections.abc import Iterator, Mapping

import pytest

from karat import discovery
from karat.extension import Extension, GoldSource
from karat.formats.fields import Checker, Record
from karat.model import Dataset


@pytest.fixture
def fresh_extensions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Find extensions anew, and forget those of the test at its end."""
    monkeypatch.setenv(discovery.PLUGINS, "")
    monkeypatch.setattr(discovery._State, "extensions", None)
    monkeypatch.setattr(discovery._State, "report", None)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield
    for name in [name for name in sys.modules if name.startswith(discovery.FILE_MODULE)]:
        del sys.modules[name]


def install(monkeypatch: pytest.MonkeyPatch, *extensions: Extension) -> None:
    """Add *extensions* to this process until the end of the test."""
    added = [discovery.InstalledExtension(each.name, "a test", each) for each in extensions]
    everything = [*discovery.installed(), *added]
    monkeypatch.setattr(discovery._State, "extensions", tuple(discovery.checked(everything)))


def install_objects(
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    objects: Mapping[str, str],
    aliases: Mapping[str, str] | None = None,
) -> None:
    """Add an extension with *objects* of one kind: names with their ``module:attribute``."""
    record = Extension(f"a {kind}", "For a test.", adds={kind: objects})
    install(monkeypatch, record._replace(aliases={kind: aliases} if aliases else {}))


class EmptyGold:
    """A gold source that makes nothing."""

    keys = ("origin", "amount")

    def read(self, check: Checker, section: Record) -> Mapping[str, object]:
        """Return the texts in *section*."""
        found = {key: check.text(section, key, ("dataset",)) for key in self.keys if key in section}
        return {"repositories": [found.pop("origin")], **found} if "origin" in found else found

    def make(self, settings: Mapping[str, object]) -> Dataset | None:
        """Return None: there is nothing to make a gold set from."""


EMPTY_GOLD: GoldSource = EmptyGold()


def install_gold_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a gold source with the keys ``origin`` and ``amount``."""
    install_objects(monkeypatch, "gold_source", {"empty": "tests.extension_kit:EMPTY_GOLD"})
