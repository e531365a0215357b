"""Runs: the hits that an engine returned for each query."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import nan
from typing import NamedTuple

from karat.errors import InputError
from karat.model.columns import CodedColumn, encode, repeated
from karat.model.frozen import EMPTY, by_value
from karat.system.words import counted

__all__ = ["Answer", "Hit", "Outcome", "Run"]


class Outcome(IntEnum):
    """How one query ended. Errors and timeouts score 0 and never enter latency percentiles."""

    ANSWERED = 0
    ERROR = 1
    TIMEOUT = 2


@by_value
class Hit(NamedTuple):
    """One result. Lines are inclusive from 1, 0 and 0 mean the whole file; NaN means no score.

    *tokens* is the length of the hit, -1 if unknown.
    """

    path: str
    score: float = nan
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    tokens: int = -1


@by_value
class Answer(NamedTuple):
    """The hits of one query in the order returned, its outcome and latency (-1: unknown)."""

    query_id: str
    hits: Sequence[Hit] = ()
    outcome: Outcome = Outcome.ANSWERED
    latency_ns: int = -1
    extra: Mapping[str, object] = EMPTY


@by_value
@dataclass(frozen=True, slots=True)
class Run:
    """Answers as columns; the hits of answer *i* are rows offsets[i]:offsets[i+1], as returned.

    Build one with :meth:`of`. Large scored runs need not become a Run: ``matching.judge`` also
    accepts ``{query: {document: score}}``, or a stream of such pairs.
    """

    name: str
    query_ids: tuple[str, ...]
    outcomes: "array[int]"
    latencies_ns: "array[int]"
    offsets: "array[int]"
    paths: CodedColumn
    scores: "array[float]"
    start_lines: "array[int]"
    end_lines: "array[int]"
    symbols: CodedColumn
    tokens: "array[int]"
    extras: tuple[Mapping[str, object], ...]
    metadata: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        answers: Iterable[Answer],
        *,
        name: str = "run",
        metadata: Mapping[str, object] | None = None,
    ) -> "Run":
        """Return *answers* as columns; two answers to one query raise InputError.

        >>> Run.of([Answer("q1", (Hit("auth.py", 0.9),))]).answer(0).hits[0].path
        'auth.py'
        """
        rows = list(answers)
        ids = tuple(answer.query_id for answer in rows)
        if twice := repeated(ids):
            raise InputError(f"{name}: query {twice[0]!r} is answered more than once")
        hits = [hit for answer in rows for hit in answer.hits]
        offsets = array("q", [0])
        for answer in rows:
            offsets.append(offsets[-1] + len(answer.hits))
        return cls(
            name=name,
            query_ids=ids,
            outcomes=array("b", [answer.outcome for answer in rows]),
            latencies_ns=array("q", [answer.latency_ns for answer in rows]),
            offsets=offsets,
            paths=encode(hit.path for hit in hits),
            scores=array("d", [hit.score for hit in hits]),
            start_lines=array("i", [hit.start_line for hit in hits]),
            end_lines=array("i", [hit.end_line for hit in hits]),
            symbols=encode(hit.symbol for hit in hits),
            tokens=array("i", [hit.tokens for hit in hits]),
            extras=tuple(answer.extra for answer in rows),
            metadata=dict(metadata or {}),
        )

    def __repr__(self) -> str:
        """Return one line: name, number of answered queries and of hits."""
        return (
            f"<Run {self.name}: {counted(len(self), 'query')}, {counted(self.offsets[-1], 'hit')}>"
        )

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self.query_ids)

    def answer(self, index: int) -> Answer:
        """Return the answer at *index* as a row."""
        rows = range(self.offsets[index], self.offsets[index + 1])
        return Answer(
            self.query_ids[index],
            tuple(
                Hit(
                    self.paths[row],
                    self.scores[row],
                    self.start_lines[row],
                    self.end_lines[row],
                    self.symbols[row],
                    self.tokens[row],
                )
                for row in rows
            ),
            Outcome(self.outcomes[index]),
            self.latencies_ns[index],
            self.extras[index],
        )

    def answers(self) -> Iterator[Answer]:
        """Iterate over the answers as rows."""
        return (self.answer(index) for index in range(len(self)))
