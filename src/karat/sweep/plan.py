"""Configurations that share work share it: which engine is asked once for which of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.model.spec import Spec
from karat.runner import Configuration
from karat.sweep.entries import Entry, check_entries

__all__ = ["Retrieval", "SharedPlan", "share"]

# Engines whose answer to fewer hits is the beginning of that to more.
CHUNKED = frozenset({"bm25", "dense", "hybrid", "sparse"})


class Retrieval(NamedTuple):
    """One engine, asked once for each query; every entry is a beginning of what it answers."""

    configuration: Configuration
    entries: tuple[Entry, ...]

    @property
    def shared(self) -> bool:
        """Return whether somebody's hits come from a search that was made for several."""
        return len(self.entries) > 1


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """What is asked for *entries*: each of *groups* lives in the same processes."""

    entries: tuple[Entry, ...]
    groups: tuple[tuple[Retrieval, ...], ...]

    @property
    def retrievals(self) -> tuple[Retrieval, ...]:
        """Return all retrievals, group by group."""
        return tuple(retrieval for group in self.groups for retrieval in group)


def share(entries: Sequence[Entry], *, files: bool) -> SharedPlan:
    """Return how to ask as little as possible; with *files* an entry wants hits in k files.

    Entries of one engine are cut from one answer at the greatest depth, where fewer hits are the
    beginning of more; an engine of which nobody knows that is asked once for each depth.
    """
    check_entries(entries)
    alike: dict[tuple[Spec, int], list[Entry]] = {}
    for entry in entries:
        depth = 0 if entry.spec.name in CHUNKED else entry.k
        alike.setdefault((entry.spec, depth), []).append(entry)
    retrievals = [_retrieval(same, files=files) for same in alike.values()]
    return SharedPlan(tuple(entries), tuple((retrieval,) for retrieval in retrievals))


def _retrieval(entries: Sequence[Entry], *, files: bool) -> Retrieval:
    first = entries[0]
    deepest = max(entry.k for entry in entries)
    return Retrieval(Configuration(first.name, first.spec, deepest, files), tuple(entries))
