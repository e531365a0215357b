"""One way to find a thing by its name: built-in tables, plug-ins, and ``module:attribute``."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Generic, TypeVar, cast

from karat.errors import InputError, MissingExtra, UnknownName

__all__ = ["Registry"]

T = TypeVar("T")
# Names less alike than this are no misspellings of each other; then all names are listed, or those
# that are at least alike and the command that lists all.
NEAR = 0.65
ALIKE = 0.4
# What Python takes for the current folder.
HERE = ""


class Registry(Generic[T]):
    """Named things of one kind, each loaded when it is first asked for.

    *table* maps a name to ``module:attribute``; nothing is imported before :meth:`get`. Other
    distributions add names through the entry point group ``karat.<kind>s``; a built-in name is
    never replaced by a plug-in. With *closed*, no other name is taken for a ``module:attribute``:
    files that strangers have written may name such a thing, and must not load their code.

    >>> colours: Registry[object] = Registry("colour", {"red": "math:pi"}, aliases={"rouge": "red"})
    >>> colours.get("Rouge")
    3.141592653589793
    >>> colours.get("rad")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no colour named 'rad'; did you mean 'red'?
    """

    def __init__(
        self,
        kind: str,
        table: Mapping[str, str],
        *,
        aliases: Mapping[str, str] | None = None,
        closed: bool = False,
        listed_by: str = "",
    ) -> None:
        """Keep the *table*; *aliases* are further spellings of its names.

        *listed_by* is the command that lists the names, where they are too many for an error.
        """
        self.kind = kind
        self._listed_by = listed_by
        self._closed = closed
        self._table = dict(table)
        self._aliases = dict(aliases or {})
        self._loaded: dict[str, T] = {}
        self._plugins: dict[str, str] | None = None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the canonical names, built-ins first, then plug-ins."""
        return iter({**self._table, **self._found_plugins()})

    def built_in(self) -> tuple[str, ...]:
        """Return Karat's own names; plug-ins are not looked for."""
        return tuple(self._table)

    def canonical(self, name: str) -> str:
        """Return the registry's own spelling of *name*, or raise UnknownName."""
        key = name.lower()
        key = self._aliases.get(key, key)
        if key in self._table or key in self._found_plugins():
            return key
        from difflib import get_close_matches

        names = [*self, *self._aliases]
        if near := get_close_matches(key, names, n=1, cutoff=NEAR):
            hint = f"did you mean {near[0]!r}?"
        elif self._listed_by:
            # Nothing looks like a misspelling; names that share a part with it may still help.
            near = get_close_matches(key, names, n=3, cutoff=ALIKE)
            hint = f"the closest are {', '.join(near)}; " if near else ""
            hint += f"`{self._listed_by}` lists all"
        else:
            hint = f"known: {', '.join(sorted(self))}"
        raise UnknownName(f"no {self.kind} named {name!r}; {hint}")

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the further spellings of the canonical *name*."""
        return tuple(alias for alias, key in self._aliases.items() if key == name)

    def get(self, name: str) -> T:
        """Return the thing called *name*, or the one at ``module:attribute``.

        Such a module may lie in the current folder, which comes after all others, so that no file
        there takes the place of a package.
        """
        if ":" in name and not self._closed:
            if HERE not in sys.path:
                sys.path.append(HERE)
            return self._load(name)
        key = self.canonical(name)
        if key not in self._loaded:
            self._loaded[key] = self._load(self._table.get(key) or self._found_plugins()[key])
        return self._loaded[key]

    def split(self, text: str) -> tuple[T, str]:
        """Return the thing that *text* names, and what it says about it after a colon.

        Where nothing has the name before the colon, the text is a ``module:attribute``.

        >>> roots: Registry[object] = Registry("root", {"sqrt": "math:sqrt"})
        >>> roots.split("sqrt:2")[1], roots.split("math:pi")
        ('2', (3.141592653589793, ''))
        """
        name, _, argument = text.partition(":")
        if name.lower() in {*self, *self._aliases}:
            return self.get(name), argument
        return self.get(text), ""

    def _found_plugins(self) -> dict[str, str]:
        if self._plugins is None:
            from importlib.metadata import entry_points

            self._plugins = {
                entry.name.lower(): entry.value
                for entry in entry_points(group=f"karat.{self.kind}s")
                if entry.name.lower() not in self._table
            }
        return self._plugins

    def _load(self, reference: str) -> T:
        module_name, _, attribute = reference.partition(":")
        try:
            return cast("T", getattr(importlib.import_module(module_name), attribute))
        except MissingExtra:
            raise
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"cannot load {self.kind} {reference!r}: {error}; expected module:attribute"
                f"{_looked_in(module_name, error)}"
            ) from error


def _looked_in(module: str, error: Exception) -> str:
    """Return the folders that were searched, where *module* was in none of them."""
    if not isinstance(error, ModuleNotFoundError) or error.name != module:
        return ""
    folders = dict.fromkeys(str(Path(place).absolute()) for place in sys.path)
    return f"; looked in {', '.join(place for place in folders if Path(place).is_dir())}"
