"""Registries: objects by name from the core's tables, extensions and ``module:attribute``."""

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

from karat.errors import InputError, MissingExtra, UnknownName

T = TypeVar("T")
# An unknown name at least NEAR a known one is taken for a misspelling; one that is not SURE may
# be that of an extension. Otherwise the error lists all names, or those that are ALIKE and the
# command that lists all.
NEAR = 0.65
SURE = 0.8
ALIKE = 0.4
# The entry of sys.path for the current folder.
HERE = ""
# The end of an error about a name that no extension here adds; another one may.
MAY_ADD = "an extension may add it: `karat plugins` lists those that are installed"


class Registry(Generic[T]):
    """Named objects of one kind, each loaded on first use.

    *table* maps a name to ``module:attribute``; nothing is imported before :meth:`get`. Extensions
    add names of the same *kind*; they never replace one of the table. With *closed*,
    ``module:attribute`` is rejected, so that a file from an untrusted source cannot load code.

    >>> colours: Registry[object] = Registry("colour", {"red": "math:pi"}, aliases={"rouge": "red"})
    >>> colours.get("Rouge")
    3.141592653589793
    >>> colours.get("rde")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no colour named 'rde'; did you mean 'red'?
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
        """Create a registry of *table*; *aliases* are further spellings of its names.

        *listed_by* is the command that lists the names, where they are too many for an error.
        """
        self.kind = kind
        self._listed_by = listed_by
        self._closed = closed
        self._table = dict(table)
        self._aliases = dict(aliases or {})
        self._loaded: dict[str, T] = {}
        self._added: _Additions | None = None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the canonical names: the core's first, then those of extensions."""
        return iter({**self._table, **self._additions().targets})

    def core(self) -> tuple[str, ...]:
        """Return the names of the core; no extension is loaded."""
        return tuple(self._table)

    def in_core(self, name: str) -> bool:
        """Return whether the core has *name*, perhaps as a further spelling."""
        return name in self._table or name in self._aliases

    def built_in(self) -> tuple[str, ...]:
        """Return the names of Karat itself: of the core and of its own extensions."""
        return (*self._table, *self._additions().own)

    def has(self, key: str) -> bool:
        """Return whether an object of the core or of an extension is called *key*."""
        return key in self._table or key in self._additions().targets

    def canonical(self, name: str) -> str:
        """Return the registry's own spelling of *name*, or raise UnknownName."""
        key = name.lower()
        key = self._aliases.get(key, key)
        if key in self._table:
            return key
        # A name that the core does not know may be an alias of an extension.
        further = self._additions().aliases
        key = further.get(key, key)
        if self.has(key):
            return key
        from difflib import get_close_matches

        off = _extensions_off()
        may_add = off or MAY_ADD
        names = [*self, *self._aliases, *further]
        if near := get_close_matches(key, names, n=1, cutoff=NEAR):
            hint = f"did you mean {near[0]!r}?"
            swapped = sorted(key) == sorted(near[0])
            sure = swapped or get_close_matches(key, near, cutoff=SURE)
            hint += "" if sure else f" Or {MAY_ADD}"
            may_add = off
        elif self._listed_by:
            # No name is near; names that share a part may still help.
            near = get_close_matches(key, names, n=3, cutoff=ALIKE)
            hint = f"the closest are {', '.join(near)}; " if near else ""
            hint += f"`{self._listed_by}` lists all"
        elif names:
            hint = f"known: {', '.join(sorted(self))}"
        else:
            hint = "no extension that is installed adds one"
            may_add = off or "`karat plugins` lists the extensions"
        hint += f"; {may_add}" if may_add else ""
        raise UnknownName(f"no {self._noun()} named {name!r}; {hint}")

    def is_alias(self, name: str) -> bool:
        """Return whether *name* is a further spelling of a name."""
        return name.lower() in {**self._aliases, **self._additions().aliases}

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the further spellings of the canonical *name*."""
        known = self._aliases if name in self._table else self._additions().aliases
        return tuple(alias for alias, key in known.items() if key == name)

    def get(self, name: str) -> T:
        """Return the object called *name*, or the one at ``module:attribute``.

        The current folder is searched last, so that no file there hides a package.
        """
        if ":" in name and not self._closed:
            if HERE not in sys.path:
                sys.path.append(HERE)
            return self.load(name)
        key = self.canonical(name)
        if key not in self._loaded:
            reference = self._table.get(key) or self._additions().targets[key]
            self._loaded[key] = self.load(reference, name=key)
        return self._loaded[key]

    def split(self, text: str) -> tuple[T, str]:
        """Return the object that *text* names, and its argument after a colon.

        If no object has the name before the colon, the text is a ``module:attribute``.

        >>> roots: Registry[object] = Registry("root", {"sqrt": "math:sqrt"})
        >>> roots.split("sqrt:2")[1], roots.split("math:pi")
        ('2', (3.141592653589793, ''))
        """
        name, _, argument = text.partition(":")
        if name.lower() in {*self, *self._aliases, *self._additions().aliases}:
            return self.get(name), argument
        try:
            return self.get(text), ""
        except InputError as error:
            if isinstance(error, UnknownName) or "." in name:
                raise
            raise InputError(f"{error}; if {name!r} is a name, {MAY_ADD}") from error

    def _additions(self) -> "_Additions":
        """Return what extensions add; plug-in files may have come since the last call."""
        from karat import discovery

        installed = discovery.installed()
        if self._added is None or self._added.source is not installed:
            targets = discovery.objects(self.kind)
            own = discovery.objects(self.kind, own=True)
            self._added = _Additions(
                installed,
                {name: target for name, target in targets.items() if name not in self._table},
                tuple(name for name in own if name not in self._table),
                discovery.aliases(self.kind),
            )
        return self._added

    def load(self, reference: str, *, name: str = "") -> T:
        """Import the ``module:attribute`` that *reference* names; an extension calls it *name*."""
        module_name, _, attribute = reference.partition(":")
        try:
            return cast("T", getattr(importlib.import_module(module_name), attribute))
        except MissingExtra:
            raise
        except Exception as error:
            likely = isinstance(error, ImportError | AttributeError | TypeError | ValueError)
            if not likely and module_name.startswith("karat."):
                raise  # a defect of ours
            told = str(error) if likely else f"{type(error).__name__}: {error}"
            if name:
                what = f"{self._noun()} {name!r} from {reference}: {told}"
            else:
                folders = _looked_in(module_name, error)
                what = f"{self._noun()} {reference!r}: {told}; expected module:attribute{folders}"
            raise InputError(f"cannot load {what}") from error

    def _noun(self) -> str:
        """Return the kind as it is written in a sentence.

        >>> Registry("vector_store", {})._noun()
        'vector store'
        """
        return self.kind.replace("_", " ")


class _Additions(NamedTuple):
    """What the extensions of *source* add to a registry; *own* has the names of Karat's own."""

    source: object
    targets: Mapping[str, str]
    own: tuple[str, ...]
    aliases: Mapping[str, str]


def _extensions_off() -> str:
    """Return why extensions are off, one of which may have the name that is unknown."""
    from karat import discovery

    off = discovery.failures()
    return f"extensions that are off: {', '.join(off)}" if off else ""


def _looked_in(module: str, error: Exception) -> str:
    """Return the folders that were searched, where *module* was in none of them."""
    if not isinstance(error, ModuleNotFoundError) or error.name != module:
        return ""
    # Loaded late: every command imports this module.
    from pathlib import Path

    folders = dict.fromkeys(str(Path(entry).absolute()) for entry in sys.path)
    return f"; looked in {', '.join(folder for folder in folders if Path(folder).is_dir())}"


def check_has(target: object, names: Sequence[str], *, kind: str) -> None:
    """Raise InputError with those of *names* that *target*, which a user wrote, lacks.

    >>> check_has(3, ["real", "embed"], kind="embedder")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: int is no embedder, for it lacks embed; see docs/extending.md
    """
    if lacking := [name for name in names if not hasattr(target, name)]:
        raise InputError(
            f"{type(target).__name__} is no {kind}, for it lacks {', '.join(lacking)}; "
            "see docs/extending.md"
        )


def call_if_there(target: object, method: str, *arguments: object) -> Any:
    """Return the result of a *method* that *target*, which a user wrote, may lack; else None.

    >>> call_if_there("login", "upper"), call_if_there("login", "lift")
    ('LOGIN', None)
    """
    function = getattr(target, method, None)
    return function(*arguments) if callable(function) else None
