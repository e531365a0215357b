"""Judgments with their judge: those of people, and the labels of language models beside them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import NamedTuple

from karat.errors import InputError
from karat.model.dataset import Dataset, Query, Target
from karat.model.frozen import by_value
from karat.system.words import counted, first_few, join_names

# Keys of a query's further fields. The targets of the query include the judgments of people; the
# labels of models are stored separately, and used only on request.
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


def time_text(at: datetime) -> str:
    """Return a time in UTC as judgments store it.

    >>> from datetime import UTC
    >>> time_text(datetime(2024, 5, 1, 12, tzinfo=UTC))
    '2024-05-01T12:00:00Z'
    """
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


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


def labelled_queries(data: Dataset) -> set[str]:
    """Return the ids of the queries that have labels of language models."""
    pairs = zip(data.query_ids, data.extras, strict=True)
    return {query_id for query_id, extra in pairs if extra.get(MODEL_LABELS)}


def with_model_labels(query: Query, labels: Iterable[JudgmentRecord]) -> Query:
    """Return *query* with *labels* of models instead of its own; its targets do not change."""
    return _with_records(query, MODEL_LABELS, labels)


def _records(query: Query, key: str) -> tuple[JudgmentRecord, ...]:
    rows = query.extra.get(key, ())
    try:
        return tuple(_record(row) for row in rows)  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError) as error:
        raise _unreadable(query.id, key) from error


def _unreadable(query_id: str, key: str) -> InputError:
    return InputError(
        f"query {query_id!r}: {key!r} is not a list of judgments as karat judge writes it"
    )


def _with_records(query: Query, key: str, records: Iterable[JudgmentRecord]) -> Query:
    rows = [_row(record) for record in records]
    rest = {name: value for name, value in query.extra.items() if name != key}
    return query._replace(extra=rest | ({key: rows} if rows else {}))


def _row(record: JudgmentRecord) -> dict[str, object]:
    target, judge, at, note, prompt = record
    blank = Target("")
    location = {
        key: value
        for key, value in target._asdict().items()
        if key in ("path", "grade") or value != getattr(blank, key)
    }
    optional = {key: text for key, text in (("note", note), ("prompt", prompt)) if text}
    return {**location, "judge": judge, "at": at, **optional}


def _record(row: Mapping[str, object]) -> JudgmentRecord:
    fields = dict(row)
    judge, at = str(fields.pop("judge")), str(fields.pop("at"))
    note, prompt = str(fields.pop("note", "")), str(fields.pop("prompt", ""))
    return JudgmentRecord(Target(**fields), judge, at, note, prompt)  # type: ignore[arg-type]


# Key of a dataset's metadata, if a score uses the labels of models.
LABEL_USE = "judge_labels"
# Numbers that use labels of models are marked below this weighted kappa, and if it is the kappa of
# fewer hits than this.
MIN_AGREEMENT = 0.6
FEWEST_PAIRS = 10
MARK = "†"


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class LabelUse:
    """How scores use the labels of models: *choice* is ``exclude``, ``include`` or ``only``.

    *labels* counts the labels, *judges* are the models. *kappa*, with the ends of its interval, is
    the agreement with people on *pairs* hits that both judged, None if it is unknown. The scores
    are doubtful if it is below *minimum*, is of too few pairs, or has no interval.
    """

    choice: str
    judges: tuple[str, ...]
    labels: int
    pairs: int = 0
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    minimum: float = MIN_AGREEMENT

    @property
    def is_used(self) -> bool:
        """Return whether any score depends on a label of a model."""
        return self.choice != "exclude"

    @property
    def is_doubtful(self) -> bool:
        """Return whether the agreement with people is unknown, uncertain or below the minimum."""
        is_low = self.kappa is None or self.kappa < self.minimum
        return self.is_used and (is_low or bool(self._uncertainty))

    @property
    def _uncertainty(self) -> str:
        """Return why kappa is uncertain, "" if it is not."""
        if self.pairs < FEWEST_PAIRS:
            return f" (fewer than {FEWEST_PAIRS})"
        has_interval = self.low is not None and self.high is not None
        return "" if has_interval else " (too few queries for an interval)"

    @property
    def mark(self) -> str:
        """Return the mark beside every number, "" if there is nothing to warn of."""
        return MARK if self.is_doubtful else ""

    @property
    def text(self) -> str:
        """Return a sentence on the labels, the judges and their agreement with people.

        >>> print(LabelUse("include", ("m1",), 300, 118, 0.41, 0.3, 0.52).text)
        † these numbers use labels by m1; agreement with people: kappa 0.41 [0.30, 0.52] on 118 \
hits, below 0.6
        >>> print(LabelUse("only", ("m1",), 500, 2, 1.0, 0.16, 1.0).text)
        † these numbers use only labels by m1; agreement with people: kappa 1.00 [0.16, 1.00] on \
2 hits (fewer than 10)
        >>> print(LabelUse("exclude", ("m1",), 300).text)
        300 labels by m1 are not used; --judge-labels include uses them
        """
        names = join_names(first_few(self.judges))
        if not self.is_used:
            verb = "is" if self.labels == 1 else "are"
            them = "it" if self.labels == 1 else "them"
            return (
                f"{counted(self.labels, 'label')} by {names} {verb} not used; "
                f"--judge-labels include uses {them}"
            )
        only = "only " if self.choice == "only" else ""
        text = f"these numbers use {only}labels by {names}; {self.agreement}"
        return f"{self.mark} {text}".lstrip()

    @property
    def agreement(self) -> str:
        """Return the agreement with people in words."""
        if not self.pairs:
            return (
                "agreement with people is unknown: no hit was judged by both "
                "(karat judge GOLD RUN --model SPEC --judged)"
            )
        hits = counted(self.pairs, "hit")
        if self.kappa is None:
            return (
                f"agreement with people is unknown: people gave one grade only to the {hits} "
                "judged by both (karat judge GOLD RUN --next)"
            )
        ends = ""
        if self.low is not None and self.high is not None:
            ends = f" [{self.low:.2f}, {self.high:.2f}]"
        below = f", below {self.minimum:g}" if self.kappa < self.minimum else ""
        hits += self._uncertainty
        return f"agreement with people: kappa {self.kappa:.2f}{ends} on {hits}{below}"


def label_use(data: Dataset) -> LabelUse | None:
    """Return how scores on *data* use labels of models; None if it has no such labels."""
    stored = data.metadata.get(LABEL_USE)
    if isinstance(stored, Mapping):
        fields = dict(stored)
        return LabelUse(judges=tuple(fields.pop("judges")), **fields)
    if not any(MODEL_LABELS in extra for extra in data.extras):
        return None
    # Scores need this for every run, so the labels are counted and not read.
    count = 0
    judges: dict[str, None] = {}
    for query_id, extra in zip(data.query_ids, data.extras, strict=True):
        rows = extra.get(MODEL_LABELS, ())
        try:
            judges.update((str(row["judge"]), None) for row in rows)  # type: ignore[attr-defined]
            count += len(rows)  # type: ignore[arg-type]
        except (TypeError, KeyError, ValueError) as error:
            raise _unreadable(query_id, MODEL_LABELS) from error
    return LabelUse("exclude", tuple(judges), count)


def with_label_use(data: Dataset, use: LabelUse) -> Dataset:
    """Return *data*, whose targets are chosen already, with *use* in its metadata."""
    return replace(data, metadata={**data.metadata, LABEL_USE: asdict(use)})
