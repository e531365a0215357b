"""Who judged a target of a gold set, when and why; kept beside the targets of each query."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from karat.errors import InputError
from karat.model import Query, Target

__all__ = ["Judgment", "judgments_of", "with_judgments"]

KEY = "judgments"


class Judgment(NamedTuple):
    """One decision; the grade of its *target* is the one given then, *at* a time in ISO 8601."""

    target: Target
    judge: str
    at: str
    note: str = ""


def judgments_of(query: Query) -> tuple[Judgment, ...]:
    """Return the judgments that *query* carries, in the order they were made."""
    rows = query.extra.get(KEY, ())
    try:
        return tuple(_judgment(row) for row in rows)  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(
            f"query {query.id!r}: {KEY!r} is no list of judgments as karat judge writes them"
        ) from error


def with_judgments(query: Query, judgments: Iterable[Judgment]) -> Query:
    """Return *query* with *judgments* in place of those it carries; none leave no trace.

    >>> ann = Judgment(Target("a.py", 2), "ann", "2024-05-01T12:00:00Z")
    >>> with_judgments(Query("q", "who"), [ann]).extra["judgments"]
    [{'path': 'a.py', 'grade': 2, 'judge': 'ann', 'at': '2024-05-01T12:00:00Z'}]
    """
    rows = [_row(judgment) for judgment in judgments]
    rest = {key: value for key, value in query.extra.items() if key != KEY}
    return query._replace(extra=rest | ({KEY: rows} if rows else {}))


def _row(judgment: Judgment) -> dict[str, object]:
    target, judge, at, note = judgment
    blank = Target("")
    place = {
        key: value
        for key, value in target._asdict().items()
        if key in ("path", "grade") or value != getattr(blank, key)
    }
    return {**place, "judge": judge, "at": at} | ({"note": note} if note else {})


def _judgment(row: Mapping[str, object]) -> Judgment:
    fields = dict(row)
    about = {key: str(fields.pop(key)) for key in ("judge", "at")}
    note = str(fields.pop("note", ""))
    return Judgment(Target(**fields), note=note, **about)  # type: ignore[arg-type]
