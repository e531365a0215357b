"""Packages that import what they offer when it is first asked for."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

# tests/architecture/test_public_doors.py loads every name of these; some are of extensions.
DOORS = ("karat", "karat.ndcg")
LAZY = (
    "karat.corpus",
    "karat.engines",
    "karat.experiments",
    "karat.experiments.store",
    "karat.experiments.workers",
    "karat.formats",
)


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_there_and_no_module_takes_its_place(package: str) -> None:
    module = import_module(package)
    submodules = {module_info.name for module_info in iter_modules(getattr(module, "__path__", []))}
    assert not submodules & set(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)


@pytest.mark.parametrize("package", [*DOORS, *LAZY])
def test_an_unknown_name_is_said_to_be_one(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nothing'"):
        _ = import_module(package).Nothing


def test_importing_the_package_imports_none_of_its_parts() -> None:
    said = "import sys, karat, karat.corpus; print(*(m for m in sys.modules if 'karat' in m))"
    completed = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, check=True, text=True
    )
    assert set(completed.stdout.split()) == {"karat", "karat.corpus", "karat.exports"}
