"""Judgments with their judge: those of people, and the labels of language models beside them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from karat.errors import InputError
from karat.model.dataset import Query, Target

__all__ = [
    "JudgmentRecord",
    "judgments_of",
    "model_labels_of",
    "with_judgments",
    "with_model_labels",
]

# Keys of a query's further fields. The targets of the query include the judgments of people; the
# labels of models are kept apart from the targets until a command is told to use them.
JUDGMENTS = "judgments"
MODEL_LABELS = "model_labels"


class JudgmentRecord(NamedTuple):
    """One judgment; *target* has the grade that was given, *at* is the time in ISO 8601.

    *judge* is the name of a person or, in a model label, the model; *prompt* is then the hash of
    the prompt that the model was given.
    """

    target: Target
    judge: str
    at: str
    note: str = ""
    prompt: str = ""


def judgments_of(query: Query) -> tuple[JudgmentRecord, ...]:
    """Return the judgments of people stored in *query*, oldest first."""
    return _records(query, JUDGMENTS)


def with_judgments(query: Query, judgments: Iterable[JudgmentRecord]) -> Query:
    """Return *query* with *judgments* instead of its own; an empty list removes the key.

    >>> ann = JudgmentRecord(Target("a.py", 2), "ann", "2024-05-01T12:00:00Z")
    >>> with_judgments(Query("q", "who"), [ann]).extra["judgments"]
    [{'path': 'a.py', 'grade': 2, 'judge': 'ann', 'at': '2024-05-01T12:00:00Z'}]
    """
    return _with_records(query, JUDGMENTS, judgments)


def model_labels_of(query: Query) -> tuple[JudgmentRecord, ...]:
    """Return the labels of language models stored in *query*, oldest first."""
    return _records(query, MODEL_LABELS)


def with_model_labels(query: Query, labels: Iterable[JudgmentRecord]) -> Query:
    """Return *query* with *labels* of models instead of its own; its targets do not change."""
    return _with_records(query, MODEL_LABELS, labels)


def _records(query: Query, key: str) -> tuple[JudgmentRecord, ...]:
    rows = query.extra.get(key, ())
    try:
        return tuple(_record(row) for row in rows)  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(
            f"query {query.id!r}: {key!r} is not a list of judgments as karat judge writes it"
        ) from error


def _with_records(query: Query, key: str, records: Iterable[JudgmentRecord]) -> Query:
    rows = [_row(record) for record in records]
    rest = {name: value for name, value in query.extra.items() if name != key}
    return query._replace(extra=rest | ({key: rows} if rows else {}))


def _row(record: JudgmentRecord) -> dict[str, object]:
    target, judge, at, note, prompt = record
    blank = Target("")
    place = {
        key: value
        for key, value in target._asdict().items()
        if key in ("path", "grade") or value != getattr(blank, key)
    }
    optional = {key: text for key, text in (("note", note), ("prompt", prompt)) if text}
    return {**place, "judge": judge, "at": at, **optional}


def _record(row: Mapping[str, object]) -> JudgmentRecord:
    fields = dict(row)
    judge, at = (str(fields.pop(key)) for key in ("judge", "at"))
    note, prompt = (str(fields.pop(key, "")) for key in ("note", "prompt"))
    return JudgmentRecord(Target(**fields), judge, at, note, prompt)  # type: ignore[arg-type]
