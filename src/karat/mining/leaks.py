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
    asked = _asked(query)
    return max((_step(asked, path) for path in paths), default=Leak.NONE)


class _Asked(NamedTuple):
    names: Sequence[str]
    ways: Sequence[str]
    words: Set[str]


class _Named(NamedTuple):
    """The names of a path; *stem* is empty if it is too generic, *specific* are revealing words."""

    file: str
    way: str
    stem: frozenset[str]
    told: frozenset[str]


def _asked(query: str) -> _Asked:
    names = [token.lower() for token in tokens(query)]
    ways = [_way(name) for name in names if "/" in name or "." in name or "::" in name]
    words = {_singular(part) for part in parts(query)}
    return _Asked(names, ways, words)


def _step(asked: _Asked, path: str) -> Leak:
    named = _named(path)
    if asked.ways and named.way and any(named.way in way for way in asked.ways):
        return Leak.PATH
    if named.file in asked.names:
        return Leak.BASENAME
    if named.stem and named.stem <= asked.words:
        return Leak.STEM
    return Leak.NONE if named.told.isdisjoint(asked.words) else Leak.PART


@lru_cache(maxsize=1 << 15)
def _named(path: str) -> _Named:
    *folders, file = path.split("/")
    stem = file.rpartition(".")[0] or file
    steps = [*folders, stem]
    if stem in _NAMELESS and folders:
        steps = folders
    way = _way("/".join(steps[-2:]).lower()) if len(steps) > 1 else ""
    told = frozenset(_singular(word) for step in steps for word in parts(step)) - _GENERIC
    words = frozenset(map(_singular, parts(steps[-1])))
    return _Named(file.lower(), way, words if words - _GENERIC else frozenset(), told)


def _way(name: str) -> str:
    """Return the parts of a path or dotted name in one form, between slashes."""
    steps = name.replace("::", "/").replace("(", "/").replace(".", "/").strip("/")
    return f"/{steps}/"


def _singular(word: str) -> str:
    """Return *word* without a plural s, in lower case; applied to both sides."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word
