"""Which targets of a gold set are in the snapshots that its queries are searched on."""

from collections import Counter
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
    corpus_snapshots,
    history_snapshots,
)
from karat.experiments.workers import SnapshotQueries
from karat.model import Dataset, Hit, Query, Target
from karat.model.evaluation import CorpusCoverage
from karat.model.timings import RunResult
from karat.scoring.matching.modes import MATCHERS, Matcher
from karat.scoring.matching.units import counted_targets, relevant_targets

__all__ = [
    "NOTE",
    "TargetCheck",
    "Where",
    "check_snapshots",
    "check_targets",
    "corpus_digest",
    "missing_paths",
    "resolved_for",
]


class TargetCheck(NamedTuple):
    """Which targets of a gold set are in the snapshots that its queries are searched on.

    *resolved* is the gold set without missing targets. *snapshots* are the snapshots with their
    queries, as other processes open them, and *digests* are the hashes of their documents.
    """

    searched: CorpusCoverage
    resolved: Dataset
    snapshots: tuple[SnapshotQueries, ...]
    digests: tuple[str, ...]


def check_snapshots(
    gold: Dataset, snapshots: Snapshots, *, match: str, root: str = ""
) -> TargetCheck:
    """Look for every target of *gold* in the snapshot of its query, by the paths that *match* uses.

    A symbol without a path counts as present, and so do lines of a file that is present: they may
    have moved. InputError is raised if a corpus that the user named has none of the targets: it is
    probably the wrong corpus.
    """
    matcher = MATCHERS.get(match)()
    queries: list[Query] = list(gold.queries())
    before = list(queries)
    sizes: list[int] = []
    checked: list[SnapshotQueries] = []
    digests: list[str] = []
    known: Set[str] = frozenset()
    for corpus, wanted in snapshots:
        checked.append(wanted)
        digests.append(corpus.snapshot)
        sizes.append(len(corpus))
        known = {matcher.spelled(document.path) for document in corpus}
        for row in wanted.rows:
            queries[row] = _present_targets(queries[row], known, matcher, root)
    relevant = [sum(relevant_targets(query.targets, matcher)) for query in before]
    left = [sum(relevant_targets(query.targets, matcher)) for query in queries]
    searched = CorpusCoverage(
        snapshot=snapshots.snapshot,
        place=snapshots.place,
        candidates=snapshots.candidates,
        trees=len(sizes),
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        targets=sum(relevant),
        unresolved=sum(relevant) - sum(left),
        lost_queries=sum(1 for was, now in zip(relevant, left, strict=True) if was and not now),
        revision=snapshots.revision,
    )
    if searched.snapshot == "corpus" and 0 < searched.targets == searched.unresolved:
        raise InputError(
            f"none of the {searched.targets} targets of {gold.name} is in {snapshots.place}; "
            + _hint(gold, known, matcher)
        )
    resolved = gold.with_queries(queries)
    return TargetCheck(searched, resolved, tuple(checked), tuple(digests))


def _hint(gold: Dataset, known: Set[str], matcher: Matcher) -> str:
    """Return what may help if no target of *gold* is among the *known* paths."""
    others = set(gold.refs.names) - {"path"}
    if others:
        return f"karat resolve finds what a {min(others)} means"
    if any(query.extra.get("base_commit") for query in gold.queries()):
        return "it was mined from Git: omit --corpus to search the version before each change"
    wanted = {matcher.spelled(target.path) for query in gold.queries() for target in query.targets}
    above = Counter(
        path.removesuffix(f"/{end}")
        for end in filter(None, wanted)
        for path in known
        if path.endswith(f"/{end}")
    )
    for folder, count in above.most_common(1):
        return f"{count} of them are below {folder}/: search that folder, or add --match suffix"
    return "are these the documents that it was made for?"


def _present_targets(query: Query, known: Set[str], matcher: Matcher, root: str) -> Query:
    """Return *query* without its missing targets.

    If all files of a query are missing, a symbol that was evidence for them is no target either.
    """
    targets = query.targets
    there = [_is_present(target, known, matcher, root) for target in targets]
    if not any(map(and_, relevant_targets(targets, matcher), there)):
        there = list(map(and_, counted_targets(targets, matcher), there))
    return query._replace(targets=tuple(compress(targets, there)))


def _is_present(target: Target, known: Set[str], matcher: Matcher, root: str) -> bool:
    path = matcher.spelled(target.path, root)
    if not path or path in known:
        return True
    wanted = Target(path)
    return not matcher.by_id and any(matcher.credit(Hit(other), wanted) for other in known)


# The key of missing paths in the notes of a run.
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


def resolved_for(gold: Dataset, runs: Sequence[RunResult]) -> Dataset | None:
    """Return *gold* without the targets that were missing in the snapshots that *runs* searched.

    None if no target was missing, if no other is left, or if the notes of the runs differ.
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
    """The snapshots to search, in the words of :mod:`karat.experiments.snapshots`.

    Without a *corpus* they are those of the repositories that the gold set was mined from. A
    *revision* needs a corpus; *repositories* and *snapshot* exclude one.
    """

    repositories: Mapping[str, str] = NOWHERE_ELSE
    corpus: str | None = None
    revision: str | None = None
    snapshot: str | None = None
    candidates: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the keywords of :class:`Where`, with absolute paths."""
        return {
            **self._asdict(),
            "repositories": {
                name: str(Path(place).resolve()) for name, place in self.repositories.items()
            },
            "corpus": None if self.corpus is None else str(Path(self.corpus).resolve()),
        }

    def of_part(self, part: Dataset, whole: Dataset) -> "Where":
        """Return the selection for *part* of a gold set, without repositories that it lacks.

        A name that the *whole* set does not have raises InputError.
        """
        check_names(whole, self.repositories)
        unused = set(whole.tags.get(TAG, ())) - set(part.tags.get(TAG, ())) - {""}
        kept = {name: place for name, place in self.repositories.items() if name not in unused}
        return self._replace(repositories=kept)

    @contextmanager
    def snapshots(self, gold: Dataset, *, seed: int) -> Iterator[Snapshots]:
        """Open the snapshots; *seed* shuffles the queries on each of them."""
        if self.corpus is None:
            if self.revision is not None:
                raise InputError(f"revision {self.revision!r} needs a corpus")
            with history_snapshots(
                gold,
                self.repositories,
                snapshot=self.snapshot or "parent",
                candidates=self.candidates,
                seed=seed,
            ) as opened:
                yield opened
            return
        if self.repositories or self.snapshot is not None:
            raise InputError(
                f"corpus {self.corpus} is searched in place of the trees of a repository; expected "
                "neither repositories nor a snapshot beside it"
            )
        candidates = self.candidates or "all"
        yield corpus_snapshots(
            gold, self.corpus, revision=self.revision, candidates=candidates, seed=seed
        )


def check_targets(
    gold: Dataset, where: Where, *, match: str, root: str = "", seed: int = 0
) -> TargetCheck:
    """Open the snapshots of *where*, and check which targets of *gold* they hold."""
    with where.snapshots(gold, seed=seed) as snapshots:
        return check_snapshots(gold, snapshots, match=match, root=root)


def corpus_digest(check: TargetCheck) -> str:
    """Return the hash of all that is searched: that of one snapshot, or one over several."""
    if len(check.digests) == 1:
        return check.digests[0]
    return sha256("\n".join(check.digests).encode()).hexdigest()
