"""Names that a package offers, imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["exports"]


def exports(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of *package*; *names* maps its modules to names, split by blanks.

    A name is imported on first use, so that one part of a package does not load the others. A
    module is relative to *package*: ``base``, or ``.corpus`` for a package beside it. A name must
    not be that of a submodule, because importing the submodule would replace it.
    """
    module_of = {name: module for module, held in names.items() for name in held.split()}

    def find(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
