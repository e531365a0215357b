"""Configurations that share work share it: which engine is asked once for which of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.engine_group import shareable
from karat.engines.spec import parse_spec
from karat.errors import InputError, LimitExceeded
from karat.experiments.workers import Configuration
from karat.model.frozen import EMPTY
from karat.model.repeated import repeated
from karat.model.spec import Spec

__all__ = [
    "MANY",
    "MOST",
    "Counts",
    "Entry",
    "Retrieval",
    "SharedPlan",
    "check_count",
    "check_entries",
    "share",
    "shares_nothing",
]

# How many configurations are worth a warning, and how many are refused unless they are allowed.
MANY, MOST = 25, 50


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a comparison: *spec* asked for *k* hits, without those below *threshold*.

    *options* is what decides it in the words of the user, such as ``search_mode`` or
    ``chunk_size``, as JSON can hold it; reports compare by them.

    >>> Entry("words", Spec("engine", "bm25"), 0)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: words: 0 hits are asked for; expected 1 or more
    """

    name: str
    spec: Spec
    k: int = 100
    threshold: float = 0.0
    options: Mapping[str, object] = EMPTY

    def __post_init__(self) -> None:
        """Refuse what cannot be meant before anything runs."""
        if not self.name.strip():
            raise InputError("a configuration has no name")
        if self.k < 1:
            raise InputError(f"{self.name}: {self.k} hits are asked for; expected 1 or more")
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"{self.name}: threshold {self.threshold} is not between 0 and 1")


def check_entries(entries: Sequence[Entry]) -> None:
    """Refuse an empty list, and names that two configurations share."""
    if not entries:
        raise InputError("no configuration; expected one or more")
    if twice := repeated(entry.name for entry in entries):
        raise InputError(f"{len(twice)} names stand for several configurations: {', '.join(twice)}")


def check_count(entries: Sequence[Entry], *, allowed: int = MOST) -> str:
    """Return a warning about *entries* that are many, "" for few; too many are refused."""
    count = len(entries)
    if count > allowed:
        raise LimitExceeded(
            f"{count} configurations, at most {allowed} are allowed; leave some values out, or "
            "allow more"
        )
    return f"{count} configurations are many; each takes its own time" if count > MANY else ""


# What decides the ranking of one component, by the engine that has it.
WORDS = ("k1", "b", "header")
VECTORS = ("model", "windows")
PARTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "bm25": (WORDS,),
    "dense": (VECTORS,),
    "hybrid": (WORDS, VECTORS),
}


class Retrieval(NamedTuple):
    """One engine, asked once for each query; every entry is a beginning of what it answers."""

    configuration: Configuration
    entries: tuple[Entry, ...]


def shares_nothing(group: Sequence[Retrieval]) -> bool:
    """Return whether *group* is one engine for one entry.

    Its timed queries are not searched twice: their hits come with their latency.
    """
    return len(group) == 1 and len(group[0].entries) == 1


class Counts(NamedTuple):
    """How much is done: searches and rankings for each query, indexes for each tree.

    A ranking is what one component gives to all searches that use it; *models* are those that
    embed each chunk and each query once.
    """

    configurations: int
    searches: int
    rankings: int
    indexes: int
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """What is asked for *entries*: the engines of one group live in the same processes."""

    entries: tuple[Entry, ...]
    groups: tuple[tuple[Retrieval, ...], ...]

    @property
    def counts(self) -> Counts:
        """Return how much is done for all entries."""
        specs = [one.configuration.spec for group in self.groups for one in group]
        rankings = {part for spec in specs for part in _rankings(spec)}
        models = [model for spec in specs for model in _models(spec)]
        return Counts(
            len(self.entries),
            len(specs),
            len(rankings),
            len(self.groups),
            tuple(dict.fromkeys(models)),
        )

    def lines(self) -> tuple[str, ...]:
        """Return in words what is shared; nothing where nothing is."""
        configurations, searches, rankings, indexes, models = self.counts
        found = []
        if searches < configurations:
            found.append(
                f"{configurations} configurations are cut from {_several(searches, 'search')} of "
                "each query, at the greatest depth that any of them wants"
            )
        if rankings < searches or indexes < searches:
            found.append(
                f"for {_several(searches, 'search')} Karat builds {_several(indexes, 'index')} and "
                f"computes {_several(rankings, 'ranking')} per query"
            )
        if models and searches > 1:
            found.append(f"each chunk and each query is embedded once by {', '.join(models)}")
        return tuple(found)


def share(entries: Sequence[Entry], *, files: bool) -> SharedPlan:
    """Return how to ask as little as possible; with *files* an entry wants hits in k files.

    Engines that may be one family are one group. Entries of one engine are cut from one answer at
    the greatest depth, where fewer hits are the beginning of more; any other engine is asked once
    for each depth, since nobody knows that of it.
    """
    check_entries(entries)
    families: dict[object, dict[tuple[Spec, int], list[Entry]]] = {}
    for entry in entries:
        family = shareable(entry.spec)
        alike = (entry.spec, 0 if family else entry.k)
        families.setdefault(family or alike, {}).setdefault(alike, []).append(entry)
    groups = [
        tuple(_retrieval(same, files=files) for same in group.values())
        for group in families.values()
    ]
    return SharedPlan(tuple(entries), tuple(groups))


def _retrieval(entries: Sequence[Entry], *, files: bool) -> Retrieval:
    first = entries[0]
    deepest = max(entry.k for entry in entries)
    return Retrieval(Configuration(first.name, first.spec, deepest, files), tuple(entries))


def _rankings(spec: Spec) -> Iterator[tuple[object, ...]]:
    """Yield what tells each ranking of chunks from any other that *spec* is made of."""
    inner = _reranked(spec)
    family = shareable(inner)
    if not family:
        yield (spec,)
    elif inner.name not in PARTS:
        yield (inner,)
    for names in PARTS.get(inner.name, ()) if family else ():
        yield (family, *((name, str(inner.params.get(name))) for name in names))


def _models(spec: Spec) -> Iterator[str]:
    inner = _reranked(spec)
    if VECTORS in PARTS.get(inner.name, ()):
        yield str(inner.params.get("model", DEFAULT_EMBEDDER))


def _reranked(spec: Spec) -> Spec:
    """Return the engine below a reranker, or *spec* itself."""
    if spec.name != "rerank":
        return spec
    over = spec.params.get("over", "bm25")
    return parse_spec(over if isinstance(over, Mapping) else str(over))


def _several(count: int, thing: str) -> str:
    plural = {"index": "indexes", "search": "searches"}.get(thing, f"{thing}s")
    return f"{count} {thing if count == 1 else plural}"
