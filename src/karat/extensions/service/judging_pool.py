"""A gold set with later judgments, and a pool of hits that follows them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Literal

from karat.app.pooling import PooledHit, as_target, best_rank, candidates, matcher_of
from karat.extensions.service.store import StoredJudgment
from karat.model import Dataset, Hit, Run, Target
from karat.scoring.labels import is_judged


def edited(gold: Dataset, judgments: Iterable[StoredJudgment]) -> Dataset:
    """Return *gold* with *judgments* applied in their order: the last one on a target counts.

    Where whole files are judged, a judgment of lines applies to their file. Judgments of queries
    that are not in *gold* are ignored.
    """
    changes: dict[str, list[StoredJudgment]] = {}
    for judgment in judgments:
        changes.setdefault(judgment.query, []).append(judgment)
    if not changes:
        return gold
    return gold.with_queries(
        [
            query._replace(targets=edited_targets(gold, query.targets, changes[query.id]))
            if query.id in changes
            else query
            for query in gold.queries()
        ],
    )


def edited_targets(
    gold: Dataset, targets: Sequence[Target], judgments: Iterable[StoredJudgment]
) -> tuple[Target, ...]:
    """Return the *targets* of one query of *gold* with *judgments*, which are all of that query."""
    grades = {
        _judged_target(gold, targets, each.path, each.start_line, each.end_line): each.grade
        for each in judgments
    }
    unchanged = [target for target in targets if _same(gold, targets, target) not in grades]
    given = [judged._replace(grade=grade) for judged, grade in grades.items() if grade is not None]
    return (*unchanged, *given)


def grade_at(
    gold: Dataset,
    query: str,
    path: str,
    *,
    start_line: int = 0,
    end_line: int = 0,
    judgments: Iterable[StoredJudgment] = (),
) -> float | None:
    """Return the grade of lines of a document for *query*, None where they are not judged.

    *judgments* are the later ones, all of that query.
    """
    targets = gold.targets(gold.query_ids.index(query))
    judged = _judged_target(gold, targets, path, start_line, end_line)
    now = edited_targets(gold, targets, judgments)
    grades = [target.grade for target in now if _same(gold, targets, target) == judged]
    return max(grades, default=None)


def without_unresolved(gold: Dataset, unresolved: Iterable[Mapping[str, object]]) -> Dataset:
    """Return *gold* without the targets whose reference could not be resolved.

    Each of *unresolved* has a ``query_id`` and a ``doc_ref``: a reference by its kind.
    """
    lost = {
        (str(each["query_id"]), str(kind), str(text))
        for each in unresolved
        for kind, text in _items(each["doc_ref"])
    }
    return gold.with_queries(
        [
            query._replace(
                targets=tuple(t for t in query.targets if (query.id, t.ref, t.path) not in lost)
            )
            for query in gold.queries()
        ],
    )


def _items(reference: object) -> Iterable[tuple[object, object]]:
    return reference.items() if isinstance(reference, Mapping) else ()


def _judged_target(
    gold: Dataset, targets: Sequence[Target], path: str, start_line: int, end_line: int
) -> Target:
    """Return the target that a judgment is of in a query with *targets*, without its grade."""
    matcher = matcher_of(gold)
    hit = Hit(matcher.spelled(path), start_line=start_line, end_line=end_line)
    return as_target(hit, 0.0, matcher, targets)


def _same(gold: Dataset, targets: Sequence[Target], target: Target) -> Target:
    return _judged_target(gold, targets, target.path, target.start_line, target.end_line)


# The best ranked hits first, or query by query in the order that the pool was made with.
HitOrder = Literal["rank", "sample"]


class JudgingPool:
    """The unjudged among the first *depth* hits of each query in each run, the best ranked first.

    *version* is that of the newest judgment it includes; 1 is the dataset as uploaded. The targets
    as uploaded decide whether a query is judged by files or by chunks, here and in
    :func:`edited_targets`: removing a target does not change the unit of stored judgments.
    """

    def __init__(
        self,
        gold: Dataset,
        runs: Mapping[str, Run],
        *,
        depth: int,
        sample: Sequence[int] | None = None,
    ) -> None:
        """Find the hits, and which of them *gold* judges already.

        *sample* has all rows of queries in the order to judge them; by default that of *gold*.
        """
        self.gold = gold
        self.version = 1
        self._matcher = matcher_of(gold)
        self._row_of = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._judgments: dict[str, list[StoredJudgment]] = {}
        pooled = candidates(gold, runs, depth=depth)
        self._hits = sorted(
            (item for items in pooled.values() for item in items),
            key=lambda item: (best_rank(item), item.row),
        )
        rows = range(len(gold)) if sample is None else sample
        position = {row: index for index, row in enumerate(rows)}
        # Indices into the hits: by rank, and query by query, there the best ranked first.
        self._orders: dict[HitOrder, Sequence[int]] = {
            "rank": range(len(self._hits)),
            "sample": sorted(
                range(len(self._hits)), key=lambda index: position[self._hits[index].row]
            ),
        }
        # Indices into the hits by query, and those of unjudged hits.
        self._indexes: dict[int, list[int]] = {}
        for index, item in enumerate(self._hits):
            self._indexes.setdefault(item.row, []).append(index)
        self._open: set[int] = set()
        for row in self._indexes:
            self._update(row)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, judgments: Iterable[StoredJudgment]) -> None:
        """Apply *judgments* made after *version*, in their order."""
        changed = set()
        for judgment in judgments:
            self._judgments.setdefault(judgment.query, []).append(judgment)
            changed.add(judgment.query)
            self.version = judgment.version
        for query_id in changed:
            row = self._row_of.get(query_id, -1)
            if row in self._indexes:
                self._update(row)

    def page(self, *, limit: int, offset: int = 0, order: HitOrder = "rank") -> list[PooledHit]:
        """Return *limit* unjudged hits in *order*, after *offset* of them."""
        unjudged = (self._hits[index] for index in self._orders[order] if index in self._open)
        return list(islice(unjudged, offset, offset + limit))

    def _update(self, row: int) -> None:
        """Update which hits of the query at *row* are unjudged."""
        judgments = self._judgments.get(self.gold.query_ids[row], ())
        targets = edited_targets(self.gold, self.gold.targets(row), judgments)
        for index in self._indexes[row]:
            if is_judged(self._hits[index].hit, targets, self._matcher):
                self._open.discard(index)
            else:
                self._open.add(index)
