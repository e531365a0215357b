"""Names that a package offers, imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["exports"]


def exports(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of *package*, whose modules hold *names*, set apart by blanks.

    So whoever needs one part of a package does not wait for the others. No name may be that of a
    module, which takes its place in the package once it is imported.
    """
    module_of = {name: module for module, held in names.items() for name in held.split()}

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
