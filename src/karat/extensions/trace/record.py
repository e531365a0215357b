"""A transcript of an agent: its tool calls in order, with what they returned and what they cost."""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

from karat.model.frozen import EMPTY


class StepKind(IntEnum):
    """What a tool call did with the corpus; of several commands in a call, the highest counts.

    OTHER shows nothing of the corpus, UNKNOWN is not understood by any rule, LISTED names files,
    SEARCHED returns what matches, SHOWN prints a file or a part of it.
    """

    OTHER = 0
    UNKNOWN = 1
    LISTED = 2
    SEARCHED = 3
    SHOWN = 4


class TextRange(NamedTuple):
    """Lines of a file, counted from 1, both ends inclusive.

    0 and 0 are the whole file, -1 and -1 lines that are not known.
    """

    path: str
    start: int = 0
    end: int = 0

    @property
    def has_lines(self) -> bool:
        """Return whether it is known which lines these are."""
        return self.start >= 0


class Call(NamedTuple):
    """A tool call as it is in the transcript.

    *folder* is the working folder, "" if it is unknown. *at_s* is the time of its result in seconds
    since the start; *tokens* and *cost* are those of all calls of models up to and including the
    one that made it. NaN stands for what the transcript does not say. *read* is the number of
    tokens of the result, if it is not that of *output*.
    """

    tool: str
    arguments: Mapping[str, object] = EMPTY
    output: str = ""
    failed: bool = False
    folder: str = ""
    at_s: float = nan
    tokens: float = nan
    cost: float = nan
    read: int = -1


class Transcript(NamedTuple):
    """What an agent did for one query in one trial.

    *ids* are names by which it may be joined to a query: instance ids, then names of files. *text*
    is what the user asked. *seconds*, *tokens* and *cost* are totals, NaN where the transcript does
    not say. *files* are those that it was read from; *parts* are further ones that belong to it.
    """

    source: Path
    ids: tuple[str, ...]
    calls: tuple[Call, ...]
    text: str = ""
    agent: str = ""
    folder: str = ""
    seconds: float = nan
    tokens: float = nan
    cost: float = nan
    parts: tuple[Path, ...] = ()


class Step(NamedTuple):
    """What a tool call did.

    *parts* are the texts that its result has, *names* the paths that it only names, *edited* the
    files that it changes. *read* is the number of tokens of its result, and *missed* are commands
    that no rule understands.
    """

    kind: StepKind
    parts: tuple[TextRange, ...] = ()
    names: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    read: int = 0
    missed: tuple[str, ...] = ()


class Meter:
    """Sums up tokens and costs of the calls of models, and times since the first."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.tokens = nan
        self.cost = nan
        self._start = nan
        self._end = nan

    def add(self, tokens: float = nan, cost: float = nan) -> None:
        """Add what one call of a model used; NaN adds nothing."""
        self.tokens = _plus(self.tokens, tokens)
        self.cost = _plus(self.cost, cost)

    def at(self, time_s: float) -> float:
        """Return *time_s*, an absolute time, as seconds since the first time; NaN is not one."""
        if isnan(time_s):
            return nan
        if isnan(self._start):
            self._start = time_s
        self._end = time_s if isnan(self._end) else max(self._end, time_s)
        return time_s - self._start

    @property
    def seconds(self) -> float:
        """Return the seconds from the first to the last time."""
        return self._end - self._start


def _plus(total: float, more: float) -> float:
    if isnan(more):
        return total
    return more if isnan(total) else total + more


def amount(value: object) -> float:
    """Return a number of a transcript as float, NaN for anything else.

    >>> amount(3), amount("0.5"), amount(None)
    (3.0, 0.5, nan)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return nan
    try:
        return float(value)
    except ValueError:
        return nan


def total(*values: object) -> float:
    """Return the sum of the numbers among *values*, NaN without any."""
    sums = nan
    for value in values:
        sums = _plus(sums, amount(value))
    return sums


def seconds_of(stamp: object) -> float:
    """Return a time stamp as seconds since 1970: ISO 8601, or a number; NaN for anything else.

    >>> seconds_of("2026-05-01T12:00:01.500Z") - seconds_of("2026-05-01T14:00:00+02:00")
    1.5
    """
    from datetime import UTC, datetime

    if isinstance(stamp, int | float):
        return float(stamp)
    if not isinstance(stamp, str) or not stamp:
        return nan
    try:
        parsed = datetime.fromisoformat(stamp)
    except ValueError:
        return nan
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def text_of(content: object) -> str:
    r"""Return the text of a message: a text, or a list of parts with texts.

    >>> text_of("a"), text_of([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}])
    ('a', 'a\nb')
    """
    return "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for key in ("text", "content", "output"):
            if key in content:
                yield from _texts(content[key])
                return
    elif isinstance(content, list | tuple):
        for part in content:
            yield from _texts(part)


def first_known(*values: float) -> float:
    """Return the first of *values* that is a number, NaN without any."""
    return next((value for value in values if not isnan(value)), nan)
