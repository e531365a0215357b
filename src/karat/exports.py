"""Public names of a package, imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["exports"]


def exports(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of *package*; *names* maps its modules to names, split by blanks.

    A name is imported on first use, so that one part of a package does not load the others. A
    module is relative to *package*: ``base``, or ``.corpus`` for a package beside it. A name must
    not be that of a submodule, because importing the submodule would replace it. ``dir`` of the
    package lists its public names, imported or not.
    """
    module_of = {name: module for module, held in names.items() for name in held.split()}
    module = sys.modules[package]
    module.__dict__["__dir__"] = lambda: sorted({*module.__all__, *_own_names(module)})

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(module, name, found)
        return found

    return find


def _own_names(module: ModuleType) -> list[str]:
    """Return the names that every module has, such as ``__doc__``."""
    return [name for name in vars(module) if name.startswith("__") and name.endswith("__")]
