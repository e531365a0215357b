"""Update a dataset that was written for one commit so that it fits a newer commit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from karat.corpus.git.repository import in_order, object_ids
from karat.errors import InputError
from karat.mining.diffs import diffs
from karat.mining.moving import MissingTarget, Mover, Renames
from karat.mining.resolve import base_commits
from karat.mining.snapshots import SnapshotReader
from karat.model import Dataset, Query, Target
from karat.model.judgments import (
    JudgmentRecord,
    judgments_of,
    model_labels_of,
    with_judgments,
    with_model_labels,
)
from karat.scoring.matching.modes import MATCHERS

__all__ = ["CarriedDataset", "LostTarget", "carry"]

Move = Callable[[Target], Target]


class LostTarget(NamedTuple):
    """A target that does not exist at the new commit, and the reason."""

    query_id: str
    target: Target
    reason: str


@dataclass(frozen=True, slots=True)
class CarriedDataset:
    """A dataset, updated to its new *commit*.

    *renamed* counts targets whose path changed, *shifted* targets whose lines changed. *dropped*
    lists the ids of queries that lost all their relevant targets and were removed.
    """

    data: Dataset
    commit: str
    renamed: int
    shifted: int
    lost: tuple[LostTarget, ...]
    dropped: tuple[str, ...]


class _MovedTarget(NamedTuple):
    query: Query
    pairs: Mapping[Target, Target]
    lost: tuple[LostTarget, ...]


def carry(data: Dataset, repository: str, *, to: str, base: str | None = None) -> CarriedDataset:
    """Return *data* with its paths, lines and symbols as they are at the commit *to*.

    A query starts from its ``base_commit``, or from *base* if it has none. Git compares each of
    these commits with *to* once, whatever the number of targets; only deleted files need further
    calls. The metadata store the new commit as ``carried_to``, because the queries no longer
    describe the change that comes next.
    """
    known, unknown = base_commits(data, repository, default=_base(data, base))
    (commit,) = object_ids(repository, [to], "commit")
    if not commit:
        raise InputError(f"{repository}: no revision {to!r}; expected a commit or a tag")
    matcher = MATCHERS.get(data.match)()
    queries = list(data.queries())
    moved: dict[int, _MovedTarget] = {}
    for name, rows in unknown.items():
        lose = _losing(f"the repository has no base commit {name!r}")
        for row in rows:
            moved[row] = _moved(queries[row], lose, commit)
    pairs = [f"{commit} {revision.commit}" for revision in in_order(repository, known)]
    with SnapshotReader(repository) as snapshots:
        new = snapshots.at(commit)
        renames = Renames(repository, new)
        for old, (_, files) in zip(snapshots.each(known), diffs(repository, pairs), strict=True):
            mover = Mover(old, new, files=files, renames=renames, matcher=matcher)
            for row in known[old.commit]:
                moved[row] = _moved(queries[row], mover.move, commit)
    return _carried(data, commit, [moved[row] for row in range(len(data))])


def _base(data: Dataset, base: str | None) -> str:
    """Return the base commit of queries without a ``base_commit``; raise if one is needed."""
    without = sum(not extra.get("base_commit") for extra in data.extras)
    if without and base is None:
        raise InputError(
            f"{data.name}: {without} of {len(data)} queries have no base_commit; pass the revision "
            "that they were written for with --from"
        )
    return base or ""


def _losing(reason: str) -> Move:
    def lose(_target: Target) -> Target:
        raise MissingTarget(reason)

    return lose


def _moved(query: Query, move: Move, commit: str) -> _MovedTarget:
    pairs: dict[Target, Target] = {}
    lost: list[LostTarget] = []
    for target in query.targets:
        try:
            pairs[target] = move(target)
        except MissingTarget as reason:
            lost.append(LostTarget(query.id, target, str(reason)))
    extra = {**query.extra, "base_commit": commit}
    judged = [
        judgment._replace(target=pairs[judgment.target])
        for judgment in judgments_of(query)
        if judgment.target in pairs
    ]
    there = query._replace(targets=_distinct(pairs.values()), extra=extra)
    carried = with_model_labels(with_judgments(there, judged), _moved_labels(query, move))
    return _MovedTarget(carried, pairs, tuple(lost))


def _moved_labels(query: Query, move: Move) -> Iterator[JudgmentRecord]:
    """Yield the labels of models whose place exists at the new commit."""
    for label in model_labels_of(query):
        with suppress(MissingTarget):
            yield label._replace(target=move(label.target))


def _distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return *targets* without duplicates; of duplicates, the one with the best grade."""
    best: dict[Target, Target] = {}
    for target in targets:
        place = target._replace(grade=0)
        if place not in best or best[place].grade < target.grade:
            best[place] = target
    return tuple(best.values())


def _carried(data: Dataset, commit: str, moved: Sequence[_MovedTarget]) -> CarriedDataset:
    kept = [item.query for item in moved if not _is_empty(item)]
    pairs = [pair for item in moved for pair in item.pairs.items()]
    metadata = {**data.metadata, "carried_to": commit}
    return CarriedDataset(
        Dataset.of(kept, name=data.name, match=data.match, metadata=metadata),
        commit,
        renamed=sum(old.path != new.path for old, new in pairs),
        shifted=sum(old[2:4] != new[2:4] for old, new in pairs),
        lost=tuple(loss for item in moved for loss in item.lost),
        dropped=tuple(item.query.id for item in moved if _is_empty(item)),
    )


def _is_empty(item: _MovedTarget) -> bool:
    """Return whether a query lost all its relevant targets; a query without any is not empty."""
    relevant = any(target.grade > 0 for target in item.pairs)
    return not relevant and any(loss.target.grade > 0 for loss in item.lost)
