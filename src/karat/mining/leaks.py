"""Leaks: how much of a target's path a query reveals."""

from collections.abc import Iterable, Sequence, Set
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from karat.mining.words import parts, tokens

__all__ = ["Leak", "leak"]


class Leak(IntEnum):
    """A scale; a higher level reveals more.

    PATH: the path, or its last two parts as a path or a dotted module. BASENAME: the file name with
    its extension. STEM: every word of the name without extension. PART: one word of the name or of
    a folder. NONE: nothing.
    """

    NONE = 0
    PART = 1
    STEM = 2
    BASENAME = 3
    PATH = 4


# These names exist in every repository, so they reveal nothing.
_EVERYWHERE = """
api app apps base bin build cmd code common compat config contrib core default dist example examples
ext file files func function functions helper helpers impl index init interface internal lib libs
main misc mod model models module modules package packages pkg plugin plugins private public scripts
server service services shared source sources src staging support test testing tests tool tools type
types util utilities utils v1 v2 v3 version view views
"""
_GENERIC = frozenset(_EVERYWHERE.split())
_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib"})


def leak(query: str, paths: Iterable[str]) -> Leak:
    """Return the highest level that *query* reaches for any of *paths*.

    >>> paths = ["src/flask/json/tag.py"]
    >>> leak("fix flask.json.tag on tuples", paths).name, leak("fix tag.py", paths).name
    ('PATH', 'BASENAME')
    >>> leak("tags of JSON", paths).name, leak("JSON", paths).name, leak("tuples", paths).name
    ('STEM', 'PART', 'NONE')
    """
    query_names = _query_names(query)
    return max((_step(query_names, path) for path in paths), default=Leak.NONE)


class _QueryNames(NamedTuple):
    names: Sequence[str]
    slashed: Sequence[str]
    words: Set[str]


class _PathNames(NamedTuple):
    """The names of a path; *stem* is empty if it is too generic, *specific* are revealing words."""

    file: str
    tail: str
    stem: frozenset[str]
    specific: frozenset[str]


def _query_names(query: str) -> _QueryNames:
    names = [token.lower() for token in tokens(query)]
    slashed = [_slashed(name) for name in names if "/" in name or "." in name or "::" in name]
    words = {_singular(part) for part in parts(query)}
    return _QueryNames(names, slashed, words)


def _step(query_names: _QueryNames, path: str) -> Leak:
    path_names = _path_names(path)
    if (
        query_names.slashed
        and path_names.tail
        and any(path_names.tail in tail for tail in query_names.slashed)
    ):
        return Leak.PATH
    if path_names.file in query_names.names:
        return Leak.BASENAME
    if path_names.stem and path_names.stem <= query_names.words:
        return Leak.STEM
    return Leak.NONE if path_names.specific.isdisjoint(query_names.words) else Leak.PART


@lru_cache(maxsize=1 << 15)
def _path_names(path: str) -> _PathNames:
    *folders, file = path.split("/")
    stem = file.rpartition(".")[0] or file
    steps = [*folders, stem]
    if stem in _NAMELESS and folders:
        steps = folders
    tail = _slashed("/".join(steps[-2:]).lower()) if len(steps) > 1 else ""
    specific = frozenset(_singular(word) for step in steps for word in parts(step)) - _GENERIC
    words = frozenset(map(_singular, parts(steps[-1])))
    return _PathNames(file.lower(), tail, words if words - _GENERIC else frozenset(), specific)


def _slashed(name: str) -> str:
    """Return the parts of a path or dotted name in one form, between slashes."""
    steps = name.replace("::", "/").replace("(", "/").replace(".", "/").strip("/")
    return f"/{steps}/"


def _singular(word: str) -> str:
    """Return *word* without a plural s, in lower case; applied to both sides."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word
