"""A gold set with the judgments that were made since, and without what could not be resolved."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from karat.app.pooling import as_target
from karat.matching.modes import MATCHERS
from karat.model import Dataset, Hit, Query, Target
from karat.store.service import Judgment

__all__ = ["edited", "edited_targets", "grade_at", "without_unresolved"]


def edited(gold: Dataset, judgments: Iterable[Judgment]) -> Dataset:
    """Return *gold* with *judgments* in their order: of several on one place the last counts.

    A judgment is of as much of a place as the rule of matching looks at: where whole files are
    judged, that of a chunk is of its file. One of a query that is not asked is left out.
    """
    changes: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        changes.setdefault(judgment.query, []).append(judgment)
    if not changes:
        return gold
    return _with(
        gold,
        [
            query._replace(targets=edited_targets(gold, query.targets, changes[query.id]))
            if query.id in changes
            else query
            for query in gold.queries()
        ],
    )


def edited_targets(
    gold: Dataset, targets: Sequence[Target], judgments: Iterable[Judgment]
) -> tuple[Target, ...]:
    """Return the *targets* of one query of *gold* with *judgments*, which are all of that query."""
    grades = {
        _place(gold, targets, each.path, each.start_line, each.end_line): each.grade
        for each in judgments
    }
    kept = [target for target in targets if _same(gold, targets, target) not in grades]
    given = [place._replace(grade=grade) for place, grade in grades.items() if grade is not None]
    return (*kept, *given)


def grade_at(
    gold: Dataset,
    query: str,
    path: str,
    *,
    start_line: int = 0,
    end_line: int = 0,
    judgments: Iterable[Judgment] = (),
) -> float | None:
    """Return the grade of a place for *query*, None where nobody has judged it.

    *judgments* are those of the query that were made since; no other query is looked at.
    """
    targets = gold.targets(gold.query_ids.index(query))
    place = _place(gold, targets, path, start_line, end_line)
    now = edited_targets(gold, targets, judgments)
    grades = [target.grade for target in now if _same(gold, targets, target) == place]
    return max(grades, default=None)


def without_unresolved(gold: Dataset, unresolved: Iterable[Mapping[str, object]]) -> Dataset:
    """Return *gold* without the targets whose reference means no document.

    Each of *unresolved* names a ``query_id`` and a ``doc_ref``: the kind of a reference and what
    it says.
    """
    lost = {
        (str(each["query_id"]), str(kind), str(text))
        for each in unresolved
        for kind, text in _items(each["doc_ref"])
    }
    return _with(
        gold,
        [
            query._replace(
                targets=tuple(t for t in query.targets if (query.id, t.ref, t.path) not in lost)
            )
            for query in gold.queries()
        ],
    )


def _items(reference: object) -> Collection[tuple[object, object]]:
    return reference.items() if isinstance(reference, Mapping) else ()


def _place(
    gold: Dataset, targets: Sequence[Target], path: str, start_line: int, end_line: int
) -> Target:
    """Return the target that a judgment is of in a query with *targets*, without its grade."""
    matcher = MATCHERS.get(gold.match)()
    hit = Hit(matcher.spelled(path), start_line=start_line, end_line=end_line)
    return as_target(hit, 0.0, matcher, targets)


def _same(gold: Dataset, targets: Sequence[Target], target: Target) -> Target:
    return _place(gold, targets, target.path, target.start_line, target.end_line)


def _with(gold: Dataset, queries: Iterable[Query]) -> Dataset:
    return Dataset.of(queries, name=gold.name, match=gold.match, metadata=gold.metadata)
