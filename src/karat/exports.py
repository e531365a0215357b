"""Public names of a package, imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

# The folder of built-in extensions, each of which can be removed.
EXTENSIONS = "karat.extensions"


def exports(
    package: str,
    names: Mapping[str, str],
    *,
    root: str = "",
    fallback: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of *package*; *names* maps its modules to names, split by blanks.

    A name is imported on first use, so that one part of a package does not load the others. A
    module is relative to *root*, the package itself by default: ``base``, or ``.corpus`` for a
    package beside it. A name must not be that of a submodule, because importing the submodule would
    replace it. ``dir`` of the package lists its public names, imported or not. *fallback* returns
    the object of another public name, or None. A name of an extension that was removed is an error
    that names the extension.
    """
    module_of = {name: module for module, held in names.items() for name in held.split()}
    module = sys.modules[package]
    module.__dict__["__dir__"] = lambda: sorted({*module.__all__, *_own_names(module)})

    def find(name: str) -> Any:
        if name in module_of:
            value = getattr(
                _import(f".{module_of[name]}", root or package, f"{package}.{name}"), name
            )
        elif not fallback or _is_submodule(module, name) or (value := fallback(name)) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(module, name, value)
        return value

    return find


def extension_name(name: str) -> Any:
    """Return the object that an extension calls ``karat.NAME``, None if none does."""
    from karat.discovery import public_name

    return public_name(name)


def _import(module: str, package: str, public_name: str) -> ModuleType:
    try:
        return import_module(module, package)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(EXTENSIONS):
            raise
        from karat.errors import MissingExtension

        extension = module.partition("extensions.")[2].partition(".")[0]
        raise MissingExtension(public_name, extension) from error


def _is_submodule(module: ModuleType, name: str) -> bool:
    """Return whether ``from package import name`` asks before it imports the submodule *name*."""
    from importlib.machinery import PathFinder

    path = getattr(module, "__path__", None)
    return (
        name.startswith("_") or PathFinder.find_spec(f"{module.__name__}.{name}", path) is not None
    )


def _own_names(module: ModuleType) -> list[str]:
    """Return the names that every module has, such as ``__doc__``."""
    return [name for name in vars(module) if name.startswith("__") and name.endswith("__")]
