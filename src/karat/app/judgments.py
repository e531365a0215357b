"""A gold set with the judgments that were made since, and without what could not be resolved."""

from collections.abc import Collection, Iterable, Mapping

from karat.app.pooling import as_target
from karat.matching.modes import MATCHERS
from karat.model import Dataset, Hit, Query, Target
from karat.store.service import Judgment

__all__ = ["edited", "grade_at", "without_unresolved"]


def edited(gold: Dataset, judgments: Iterable[Judgment]) -> Dataset:
    """Return *gold* with *judgments* in their order: of several on one place the last counts.

    A judgment is of as much of a place as the rule of matching looks at: where whole files are
    judged, that of a chunk is of its file. One of a query that is not asked is left out.
    """
    changes: dict[str, dict[Target, float | None]] = {}
    for judgment in judgments:
        places = changes.setdefault(judgment.query, {})
        places[_place(gold, judgment.path, judgment.start_line, judgment.end_line)] = judgment.grade
    if not changes:
        return gold
    return _with(
        gold, [_changed(gold, query, changes.get(query.id, {})) for query in gold.queries()]
    )


def grade_at(
    gold: Dataset, query: str, path: str, *, start_line: int = 0, end_line: int = 0
) -> float | None:
    """Return the grade of a place for *query*, None where nobody has judged it."""
    place = _place(gold, path, start_line, end_line)
    targets = gold.targets(gold.query_ids.index(query))
    grades = [target.grade for target in targets if _same(gold, target) == place]
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


def _changed(gold: Dataset, query: Query, grades: Mapping[Target, float | None]) -> Query:
    kept = [target for target in query.targets if _same(gold, target) not in grades]
    given = [place._replace(grade=grade) for place, grade in grades.items() if grade is not None]
    return query._replace(targets=(*kept, *given))


def _place(gold: Dataset, path: str, start_line: int, end_line: int) -> Target:
    """Return the target that a judgment is of, without its grade."""
    matcher = MATCHERS.get(gold.match)()
    hit = Hit(matcher.spelled(path), start_line=start_line, end_line=end_line)
    return as_target(hit, 0.0, matcher)


def _same(gold: Dataset, target: Target) -> Target:
    return _place(gold, target.path, target.start_line, target.end_line)


def _with(gold: Dataset, queries: Iterable[Query]) -> Dataset:
    return Dataset.of(queries, name=gold.name, match=gold.match, metadata=gold.metadata)
