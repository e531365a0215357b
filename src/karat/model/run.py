"""Runs: the hits that an engine returned for each query, also packed as bytes."""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from itertools import accumulate, chain, pairwise
from math import nan
from operator import itemgetter
from typing import Any, NamedTuple, overload

from karat.errors import InputError
from karat.model.frozen import EMPTY, CodedColumn, by_value, encode, repeated
from karat.system.words import counted

# Metadata of a run that Karat made: the order of the engine is the ranking, also where scores are
# equal. Other runs, such as those of files, have no such rule.
TIES = "ties"
AS_RETURNED = "order"

HEAD = struct.Struct("<BII")
# The width of an integer in bytes, and its struct format.
WIDTHS = {2: "h", 4: "i"}


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
@dataclass(frozen=True, slots=True, eq=False)
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
        columns = [columns_of(answer.hits) for answer in rows]
        column: dict[str, Iterable[Any]] = {
            name: chain.from_iterable(map(itemgetter(number), columns))
            for number, name in enumerate(Hit._fields)
        }
        lengths = (len(answer.hits) for answer in rows)
        return cls(
            name=name,
            query_ids=ids,
            outcomes=array("b", [answer.outcome for answer in rows]),
            latencies_ns=array("q", [answer.latency_ns for answer in rows]),
            offsets=array("q", accumulate(lengths, initial=0)),
            paths=encode(column["path"]),
            scores=array("d", column["score"]),
            start_lines=array("i", column["start_line"]),
            end_lines=array("i", column["end_line"]),
            symbols=encode(column["symbol"]),
            tokens=array("i", column["tokens"]),
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
        return self._outline(index)._replace(hits=self._hits(index))

    def answers(self) -> Iterator[Answer]:
        """Iterate over the answers as rows."""
        return (self.answer(index) for index in range(len(self)))

    def answers_without_hits(self) -> Iterator[Answer]:
        """Iterate over the answers as rows for their outcomes and extras; no hit is made."""
        return map(self._outline, range(len(self)))

    def _outline(self, index: int) -> Answer:
        return Answer(
            self.query_ids[index],
            (),
            Outcome(self.outcomes[index]),
            self.latencies_ns[index],
            self.extras[index],
        )

    def _hits(self, index: int) -> tuple[Hit, ...]:
        rows = slice(self.offsets[index], self.offsets[index + 1])
        columns = (
            self.paths[rows],
            self.scores[rows],
            self.start_lines[rows],
            self.end_lines[rows],
            self.symbols[rows],
            self.tokens[rows],
        )
        return tuple(map(HIT, zip(*columns, strict=True)))


# Builds a hit from all its fields; calling the class would dominate the time.
HIT: Callable[[tuple[object, ...]], Hit] = partial(tuple.__new__, Hit)


def scored_hits(paths: Iterable[str], scores: Iterable[float]) -> tuple[Hit, ...]:
    """Return hits on whole files; both arguments have the same length.

    >>> scored_hits(["a.py"], [0.5]) == (Hit("a.py", 0.5),)
    True
    """
    whole_file = Hit("")[2:]
    return tuple(HIT((path, score, *whole_file)) for path, score in zip(paths, scores, strict=True))


# The fields of hits, one sequence for each, in the order of the fields.
HitColumns = tuple[
    Sequence[str], Sequence[float], Sequence[int], Sequence[int], Sequence[str], Sequence[int]
]
NO_HITS: HitColumns = ((), (), (), (), (), ())


def columns_of(hits: Sequence[Hit]) -> HitColumns:
    """Return *hits* by column; packed ones become no Hit meanwhile.

    >>> columns_of([Hit("a.py", 0.5, 3, 9), Hit("b.py", 0.25)])[:3]
    (('a.py', 'b.py'), (0.5, 0.25), (3, 0))
    """
    if isinstance(hits, PackedHits):
        return hits.columns()
    columns: HitColumns = tuple(zip(*hits, strict=True)) or NO_HITS  # type: ignore[assignment]
    return columns


def packed(hits: Sequence[Hit]) -> bytes:
    """Return *hits* as bytes; decoding restores them bit for bit.

    After the head (width of integers, hits, distinct paths) come the scores, then first lines, last
    lines, tokens, path indexes, the lengths of the distinct paths and of the symbols in characters,
    and all of their text. They are not compressed, which would take longer than many searches.

    >>> PackedHits(packed([Hit("a.py", 0.5, 3, 9, "login"), Hit("a.py")]))[0]
    Hit(path='a.py', score=0.5, start_line=3, end_line=9, symbol='login', tokens=-1)
    """
    if isinstance(hits, PackedHits):
        return hits.data
    if not hits:
        return HEAD.pack(2, 0, 0)
    paths, scores, starts, ends, symbols, tokens = columns_of(hits)
    distinct: dict[str, int] = {}
    which = [distinct.setdefault(path, len(distinct)) for path in paths]
    texts = [*distinct, *symbols]
    values = (*scores, *starts, *ends, *tokens, *which, *map(len, texts))
    counts = len(paths), len(distinct)
    try:
        numbers = _numbers(2, *counts).pack(2, *counts, *values)
    except struct.error:
        numbers = _numbers(4, *counts).pack(4, *counts, *values)
    return numbers + "".join(texts).encode("utf-8", "surrogatepass")


def _numbers(width: int, hits: int, distinct: int) -> struct.Struct:
    """Return the struct format of the head and all numbers."""
    return struct.Struct(f"{HEAD.format}{hits}d{5 * hits + distinct}{WIDTHS[width]}")


class PackedHits(Sequence[Hit]):
    """Hits as :func:`packed` wrote them; every access decodes them again, except their number.

    Code that only copies them to a file need not decode.
    """

    __slots__ = ("data",)
    # Hashing would decode all hits, each time.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: bytes) -> None:
        """Store *data* without decoding."""
        self.data = data

    def __len__(self) -> int:
        """Return the number of hits."""
        count: int = HEAD.unpack_from(self.data)[1]
        return count

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        # As bytes first, so that identical NaN scores are equal.
        if isinstance(other, PackedHits) and self.data == other.data:
            return True
        return isinstance(other, Sequence) and self._read() == tuple(other)

    def __repr__(self) -> str:
        return repr(self._read())

    def columns(self) -> HitColumns:
        """Return the fields of the hits by column."""
        width, count, distinct = HEAD.unpack_from(self.data)
        if not count:
            return NO_HITS
        form = _numbers(width, count, distinct)
        numbers = form.unpack_from(self.data)[3:]
        scores, starts, ends, tokens, which = (
            numbers[start : start + count] for start in range(0, 5 * count, count)
        )
        text = self.data[form.size :].decode("utf-8", "surrogatepass")
        cuts = accumulate(numbers[5 * count :], initial=0)
        texts = [text[start:end] for start, end in pairwise(cuts)]
        return [texts[path] for path in which], scores, starts, ends, texts[distinct:], tokens

    def _read(self) -> tuple[Hit, ...]:
        return tuple(map(HIT, zip(*self.columns(), strict=True)))
