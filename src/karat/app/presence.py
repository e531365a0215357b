"""Which targets of a gold set are in the trees that its queries are searched on."""

from collections.abc import Set
from itertools import compress
from operator import and_
from typing import NamedTuple

from karat.app.trees import Trees
from karat.errors import InputError
from karat.matching.modes import MATCHERS, Matcher
from karat.matching.units import counted, relevant_targets
from karat.model import Dataset, Hit, Query, Target
from karat.model.searched import Searched
from karat.runner import Visit

__all__ = ["Survey", "survey"]


class Survey(NamedTuple):
    """What the trees hold, and the gold set with only those targets that are there.

    *visits* are the trees as other processes find them, and *snapshots* the hashes of what they
    hold.
    """

    searched: Searched
    resolved: Dataset
    visits: tuple[Visit, ...]
    snapshots: tuple[str, ...]


def survey(gold: Dataset, trees: Trees, *, match: str, root: str = "") -> Survey:
    """Look for every target of *gold* in the tree of its query, by the paths that *match* takes.

    A symbol without a path counts as there, and so do lines of a file that is there: they may have
    moved. Where no target is in a corpus that a user named, it is that of something else, and
    InputError is raised.
    """
    matcher = MATCHERS.get(match)()
    queries: list[Query] = list(gold.queries())
    before = list(queries)
    sizes: list[int] = []
    visits: list[Visit] = []
    snapshots: list[str] = []
    for visit in trees:
        visits.append(Visit(visit.source, visit.rows))
        snapshots.append(visit.corpus.snapshot)
        sizes.append(len(visit.corpus))
        known = {matcher.spelled(document.path) for document in visit.corpus}
        for row in visit.rows:
            queries[row] = _with_what_is_there(queries[row], known, matcher, root)
    relevant = [sum(relevant_targets(query.targets, matcher)) for query in before]
    left = [sum(relevant_targets(query.targets, matcher)) for query in queries]
    searched = Searched(
        snapshot=trees.snapshot,
        place=trees.place,
        candidates=trees.candidates,
        trees=len(sizes),
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        targets=sum(relevant),
        unresolved=sum(relevant) - sum(left),
        lost_queries=sum(1 for was, now in zip(relevant, left, strict=True) if was and not now),
        revision=trees.revision,
    )
    if searched.snapshot == "corpus" and 0 < searched.targets == searched.unresolved:
        raise InputError(
            f"none of the {searched.targets} targets of {gold.name} is in {trees.place}; are these "
            f"the documents that it was made for?{_hint(gold)}"
        )
    resolved = Dataset.of(queries, name=gold.name, match=gold.match, metadata=gold.metadata)
    return Survey(searched, resolved, tuple(visits), tuple(snapshots))


def _hint(gold: Dataset) -> str:
    """Return what finds targets that are named otherwise than by their paths."""
    others = set(gold.refs.names) - {"path"}
    return f" karat resolve finds what a {min(others)} means" if others else ""


def _with_what_is_there(query: Query, known: Set[str], matcher: Matcher, root: str) -> Query:
    """Return *query* without the targets that are not there.

    A symbol that is evidence for files does not become a target where all of them are lost.
    """
    targets = query.targets
    there = [_is_there(target, known, matcher, root) for target in targets]
    if not any(map(and_, relevant_targets(targets, matcher), there)):
        there = list(map(and_, counted(targets, matcher), there))
    return query._replace(targets=tuple(compress(targets, there)))


def _is_there(target: Target, known: Set[str], matcher: Matcher, root: str) -> bool:
    path = matcher.spelled(target.path, root)
    if not path or path in known:
        return True
    wanted = Target(path)
    return not matcher.by_id and any(matcher.credit(Hit(other), wanted) for other in known)
