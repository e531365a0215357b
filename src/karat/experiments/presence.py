"""Which targets of a gold set are in the trees that its queries are searched on."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from hashlib import sha256
from itertools import compress
from operator import and_
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.experiments.snapshots import (
    NOWHERE_ELSE,
    TAG,
    Snapshots,
    check_names,
    corpus_trees,
    history_trees,
)
from karat.experiments.workers import Visit
from karat.model import Dataset, Hit, Query, Target
from karat.model.searched import Searched
from karat.model.timings import Measured
from karat.scoring.matching.modes import MATCHERS, Matcher
from karat.scoring.matching.units import counted_targets, relevant_targets

__all__ = [
    "NOTE",
    "Survey",
    "Where",
    "digest_of",
    "missing_paths",
    "resolved_for",
    "survey",
    "surveyed",
]


class Survey(NamedTuple):
    """What the trees hold, and the gold set with only those targets that are there.

    *visits* are the trees as other processes find them, and *snapshots* the hashes of what they
    hold.
    """

    searched: Searched
    resolved: Dataset
    visits: tuple[Visit, ...]
    snapshots: tuple[str, ...]


def survey(gold: Dataset, trees: Snapshots, *, match: str, root: str = "") -> Survey:
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
    resolved = gold.with_queries(queries)
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
        there = list(map(and_, counted_targets(targets, matcher), there))
    return query._replace(targets=tuple(compress(targets, there)))


def _is_there(target: Target, known: Set[str], matcher: Matcher, root: str) -> bool:
    path = matcher.spelled(target.path, root)
    if not path or path in known:
        return True
    wanted = Target(path)
    return not matcher.by_id and any(matcher.credit(Hit(other), wanted) for other in known)


# What the notes of a run call them.
NOTE = "unresolved"


def missing_paths(gold: Dataset, resolved: Dataset) -> dict[str, list[str]]:
    """Return, by query, the paths of relevant targets of *gold* that *resolved* lacks."""
    found = {}
    for before, after in zip(gold.queries(), resolved.queries(), strict=True):
        left = {target.path for target in after.targets}
        gone = [t.path for t in before.targets if t.grade > 0 and t.path not in left]
        if gone:
            found[before.id] = list(dict.fromkeys(gone))
    return found


def resolved_for(gold: Dataset, runs: Sequence[Measured]) -> Dataset | None:
    """Return *gold* without the targets that were in no tree which *runs* have searched.

    None where all were there, where no other is left, and where the runs do not say the same.
    """
    first, *others = (run.notes.get(NOTE) for run in runs)
    if not isinstance(first, Mapping) or not first or any(other != first for other in others):
        return None
    queries = [
        query._replace(
            targets=tuple(t for t in query.targets if t.path not in first.get(query.id, ()))
        )
        for query in gold.queries()
    ]
    if not any(target.grade > 0 for query in queries for target in query.targets):
        return None
    return gold.with_queries(queries)


class Where(NamedTuple):
    """The trees to search, in the words of :mod:`karat.experiments.snapshots`.

    Without a *corpus* they are those of the repositories that the gold set was mined from;
    *revision* belongs to a corpus, *repositories* and *snapshot* do not.
    """

    repositories: Mapping[str, str] = NOWHERE_ELSE
    corpus: str | None = None
    revision: str | None = None
    snapshot: str | None = None
    candidates: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return what :class:`Where` takes as keywords, with whole paths."""
        return {
            **self._asdict(),
            "repositories": {
                name: str(Path(place).resolve()) for name, place in self.repositories.items()
            },
            "corpus": None if self.corpus is None else str(Path(self.corpus).resolve()),
        }

    def of_part(self, part: Dataset, whole: Dataset) -> "Where":
        """Return it for *part* of a gold set, which may have no case of some repositories.

        Their folders are left out. A name that the *whole* set does not have raises InputError.
        """
        check_names(whole, self.repositories)
        unused = set(whole.tags.get(TAG, ())) - set(part.tags.get(TAG, ())) - {""}
        kept = {name: place for name, place in self.repositories.items() if name not in unused}
        return self._replace(repositories=kept)

    @contextmanager
    def trees(self, gold: Dataset, *, seed: int) -> Iterator[Snapshots]:
        """Open the trees; the order of queries on one of them is left to chance by *seed*."""
        if self.corpus is None:
            if self.revision is not None:
                raise InputError(f"revision {self.revision!r} belongs to a corpus; none is named")
            with history_trees(
                gold,
                self.repositories,
                snapshot=self.snapshot or "parent",
                candidates=self.candidates,
                seed=seed,
            ) as trees:
                yield trees
            return
        if self.repositories or self.snapshot is not None:
            raise InputError(
                f"corpus {self.corpus} is searched in place of the trees of a repository; expected "
                "neither repositories nor a snapshot beside it"
            )
        candidates = self.candidates or "all"
        yield corpus_trees(
            gold, self.corpus, revision=self.revision, candidates=candidates, seed=seed
        )


def surveyed(gold: Dataset, where: Where, *, match: str, root: str = "", seed: int = 0) -> Survey:
    """Return the visits that *where* means, and which targets of *gold* are there."""
    with where.trees(gold, seed=seed) as trees:
        return survey(gold, trees, match=match, root=root)


def digest_of(survey: Survey) -> str:
    """Return the hash of all that is searched: of one tree its snapshot, else one over them."""
    if len(survey.snapshots) == 1:
        return survey.snapshots[0]
    return sha256("\n".join(survey.snapshots).encode()).hexdigest()
