"""Tests of an extension see this extension, and those that its record needs.

A test that uses an object of another one by its name says so: ``pytest.mark.together_with``. Those
of the service see all: its servers outlive a test, and offer what is installed.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from karat import discovery

HERE = Path(__file__).parent
# Commands with options of extensions, which are read once, when the module is imported.
WITH_OPTIONS = ("karat.cli.commands.gate", "karat.cli.commands.report")


def with_needs(names: Iterable[str]) -> set[str]:
    """Return *names* and those of all extensions that these need."""
    needs = {
        need
        for name in names
        for need in import_module(f"karat.extensions.{name}.extension").EXTENSION.needs
    }
    return {*names, *(with_needs(needs) if needs else ())}


@pytest.fixture(autouse=True)
def own_extensions(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave the extension of the test and those that it needs; other processes see all."""
    name = request.path.relative_to(HERE).parts[0]
    if name == "service":
        yield
        return
    others = [other for mark in request.node.iter_markers("together_with") for other in mark.args]
    seen = with_needs([name, *others])
    left = tuple(each for each in discovery.installed() if each.name in seen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery._State, "extensions", left)
        for module in WITH_OPTIONS:
            patch.delitem(sys.modules, module, raising=False)
        yield
