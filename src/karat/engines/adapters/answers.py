"""The options that all adapters share, and how hits are read from a JSON value by them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import nan
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from karat.engines.adapters.external import AnswerProblem, ExternalReply
from karat.engines.placeholders import fill, with_parameters
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.model.timings import COST_NAMES, TOKEN_NAMES, reported

SHORTEST_SECRET = 4
# A shorter part of a secret is of no use to anybody.
SHORTEST_PART = 4
LISTS = ("hits", "results", "matches", "result")
PATHS = ("path", "file_path", "file", "filename")
STARTS = ("start_line", "startLine", "start", "line", "line_number")
ENDS = ("end_line", "endLine", "end")
SCORES = ("score",)
DISTANCES = ("distance",)
SYMBOLS = ("symbol", "symbol_name")
TOKENS = ("tokens",)
RANGE = re.compile(r"\D*(\d+)(?:\D+(\d+))?\D*")
# An invalid range of lines, which the check of the hits counts.
BAD_RANGE = (-1, -1)

Find = Callable[[object], object]


def words(query: str) -> list[str]:
    """Return the distinct words of *query* in lower case, those of one letter left out.

    >>> words("Where is a login? LOGIN!")
    ['where', 'is', 'login']
    """
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", query))
    return [word for word in words if len(word) > 1] or list(words)


class Secrets:
    """Values from the environment, which :meth:`scrub` takes out of any text that is shown.

    >>> secrets = Secrets({"TOKEN": "s3cret"})
    >>> secrets.get("TOKEN"), secrets.scrub("401: s3cret is wrong")
    ('s3cret', '401: {env:TOKEN} is wrong')
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._used: dict[str, str] = {}

    def get(self, name: str) -> str:
        """Return the variable *name*, or raise InputError."""
        value = self._environ.get(name)
        if not value:
            raise InputError(f"the environment variable {name} is not set")
        self._used[value] = name
        return value

    def expand(self, text: str) -> str:
        """Return *text* with each ``{env:NAME}`` replaced by its value."""
        return fill(text, lambda name: self.get(name.removeprefix("env:")))

    def hide(self, value: str, name: str) -> None:
        """Also scrub *value*, which was made from secrets, as ``{env:name}``."""
        self._used[value] = name

    def scrub(self, text: str) -> str:
        """Return *text* without the values that were used, or parts of them where it was cut."""
        for value, name in sorted(self._used.items(), key=lambda item: -len(item[0])):
            if len(value) >= SHORTEST_SECRET:
                for form in {value, quote(value, safe=""), value.encode("unicode_escape").decode()}:
                    text = _without_parts(text.replace(form, f"{{env:{name}}}"), form, name)
        return text


def _without_parts(text: str, secret: str, name: str) -> str:
    """Return *text* without a part of *secret* at a cut, which is its start or three dots.

    >>> _without_parts("key-4711 was rejected: secret-key...", "secret-key-4711", "KEY")
    '{env:KEY} was rejected: {env:KEY}...'
    """
    mark = f"{{env:{name}}}"
    for size in range(len(secret) - 1, SHORTEST_PART - 1, -1):
        text = text.replace(f"{secret[:size]}...", f"{mark}...")
        text = text.replace(f"...{secret[-size:]}", f"...{mark}")
        if text.startswith(secret[-size:]):
            text = f"{mark}{text[size:]}"
    return text


SHOWN = 160


def excerpt(text: str) -> str:
    """Return the beginning of *text* in quotes, as far as an error should show it."""
    return repr(text[:SHOWN] + ("..." if len(text) > SHOWN else ""))


Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=1, le=2**31)]


class AdapterOptions(BaseModel):
    """The base class of options; unknown names are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class AnswerOptions(AdapterOptions):
    """How to find the hits in an answer; each path is a JSONPath within the answer or the hit.

    Without *hits* the answer is a list, or an object with a list ``hits``, ``results`` or
    ``matches``. *lines* is a range in one value (``"10-20"``, ``[10, 20]``). A *distance* is a
    score for which less is better. *first_line* is 0 where a search counts lines from 0.
    ``order: score`` sorts by score; else the order of the answer counts. *cost* and *total_tokens*
    are what the query has cost, in the answer; *tokens* is the size of a hit. *parameters* are
    values for further names in braces.
    """

    parameters: dict[str, str | bool | int | float] = Field(default_factory=dict)
    hits: str | None = None
    path: str | None = None
    start_line: str | None = None
    end_line: str | None = None
    lines: str | None = None
    score: str | None = None
    distance: str | None = None
    symbol: str | None = None
    tokens: str | None = None
    cost: str | None = None
    total_tokens: str | None = None
    first_line: Literal[0, 1] = 1
    order: Literal["given", "score"] = "given"
    strip_prefix: str = ""
    timeout_s: Seconds = 30.0
    max_bytes: Bytes = 10_000_000

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, options: object) -> object:
        return with_parameters(options) if isinstance(options, Mapping) else options

    @field_validator("first_line", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return int(value) if isinstance(value, str) and value in ("0", "1") else value

    @field_validator(*("hits", "path", "start_line", "end_line", "lines"))
    @classmethod
    def _first_paths(cls, value: str | None) -> str | None:
        return _json_path(value)

    @field_validator(*("score", "distance", "symbol", "tokens", "cost", "total_tokens"))
    @classmethod
    def _further_paths(cls, value: str | None) -> str | None:
        return _json_path(value)

    @model_validator(mode="after")
    def _one_of_each(self) -> "AnswerOptions":
        if self.lines and (self.start_line or self.end_line):
            raise ValueError("lines and start_line/end_line exclude each other; give one")
        if self.score and self.distance:
            raise ValueError("score and distance exclude each other; give one")
        return self


JSON_PATHS = frozenset(
    (
        *("hits", "path", "start_line", "end_line", "lines", "score", "distance", "symbol"),
        *("tokens", "cost", "total_tokens"),
    )
)


def absolute_jsonpath(path: str) -> str:
    """Return *path* from the root, which a user may leave out: ``_source.path``.

    >>> [absolute_jsonpath(path) for path in ("_source.path", "[0].path", "$.hits[*]")]
    ['$._source.path', '$[0].path', '$.hits[*]']
    """
    return path if path.startswith("$") else f"${path}" if path[:1] in "[." else f"$.{path}"


def _json_path(value: str | None) -> str | None:
    if value is None:
        return None
    from jsonpath import JSONPathError, compile  # noqa: A004 - jsonpath's own name

    try:
        compile(absolute_jsonpath(value))
    except JSONPathError as error:
        raise ValueError(f"{value!r} is not a JSONPath: {str(error).splitlines()[0]}") from None
    return value


class AnswerReader:
    """Takes the hits out of JSON values.

    >>> reader = AnswerReader(AnswerOptions(hits="$.data[*]", path="file.name", lines="range"))
    >>> reader.hits({"data": [{"file": {"name": "a.py"}, "range": "10-12", "score": 0.5}]})
    [Hit(path='a.py', score=0.5, start_line=10, end_line=12, symbol='', tokens=-1)]
    """

    def __init__(self, options: AnswerOptions) -> None:
        self._options = options
        self._hits = _all_of(options.hits) if options.hits else None
        # The list whose entries are the hits.
        holder = re.sub(r"(\[\*\]|\.\*)$", "", options.hits or "")
        self._list = _all_of(holder) if holder not in ("", "$") else None
        self._path = _one_of(options.path, PATHS)
        self._start = _one_of(options.start_line, STARTS)
        self._end = _one_of(options.end_line, ENDS)
        self._lines = _one_of(options.lines, ()) if options.lines else None
        self._score = _one_of(options.score, () if options.distance else SCORES)
        self._distance = _one_of(options.distance, () if options.score else DISTANCES)
        self._symbol = _one_of(options.symbol, SYMBOLS)
        self._tokens = _one_of(options.tokens, TOKENS)
        self._cost = _one_of(options.cost, ()) if options.cost else None
        self._total = _one_of(options.total_tokens, ()) if options.total_tokens else None
        self._shift = 1 - options.first_line
        self._sorted = options.order == "score"

    def hits(self, answer: object, *, partial: bool = False) -> list[Hit]:
        """Return the hits in *answer*; an answer without a list is an error unless *partial*."""
        hits = [self._hit(entry) for entry in self._entries(answer, partial=partial)]
        return sorted_by_score(hits) if self._sorted else hits

    def reply(self, answer: object) -> ExternalReply:
        """Return the hits in *answer*, what it reports to have cost, and a problem if there is one.

        >>> reader = AnswerReader(AnswerOptions(hits="$.hitz[*]"))
        >>> reader.reply({"took": 3, "results": []}).problem.text
        '$.hitz[*] matches nothing; the answer has the keys took, results'
        >>> AnswerReader(AnswerOptions(path="name")).reply([{"file": "a.py"}]).problem.text
        "a hit has no 'name'; its keys are file"
        """
        entries = list(self._entries(answer, partial=False))
        hits = [self._hit(entry) for entry in entries]
        problem = None if hits else self._hits_problem(answer)
        if without := next(
            (entry for entry, hit in zip(entries, hits, strict=True) if not hit.path), None
        ):
            problem = self._path_problem(without)
        hits = sorted_by_score(hits) if self._sorted else hits
        return ExternalReply(hits, {}, self.spending(answer), problem)

    def _hits_problem(self, answer: object) -> AnswerProblem | None:
        """Return why the path of the hits matches nothing, None if their list is there."""
        path = self._options.hits
        if path is None or not isinstance(answer, Mapping | list) or not answer:
            return None
        lists = self._list(answer) if self._list else [answer]
        if any(isinstance(value, Mapping | list) for value in lists):
            return None
        first = FIRST_KEY.match(absolute_jsonpath(path))
        has = f"has the keys {_keys(answer)}" if isinstance(answer, Mapping) else "is a list"
        sure = first is not None and (isinstance(answer, list) or first[1] not in answer)
        return AnswerProblem(f"{path} matches nothing; the answer {has}", sure)

    def _path_problem(self, entry: object) -> AnswerProblem | None:
        """Return what the hit *entry* has instead of a path."""
        if not isinstance(entry, Mapping) or self._path(entry) is not None:
            return None
        field = repr(self._options.path) if self._options.path else "path"
        return AnswerProblem(f"a hit has no {field}; its keys are {_keys(entry)}")

    def one(self, entry: object) -> list[Hit]:
        """Return the hits of *entry*, which is one line of many: a hit, or an answer of its own."""
        return [self._hit(entry)] if self._is_hit(entry) else self.hits(entry, partial=True)

    def spending(self, answer: object, *, line: bool = False) -> dict[str, object]:
        """Return the tokens and the cost that *answer* reports, not yet checked.

        An option names the only path that counts; without it the usual names do, but for a *line*
        of many that is a hit: its tokens are those of the hit.

        >>> reader = AnswerReader(AnswerOptions(cost="$.bill.usd"))
        >>> reader.spending({"bill": {"usd": 0.01}, "cost": 9, "usage": {"total_tokens": 120}})
        {'total_tokens': 120, 'cost': 0.01}
        """
        usual = {} if line and self._is_hit(answer) else answer
        values: dict[str, object] = {}
        for name, find, names in (
            ("tokens", self._total, TOKEN_NAMES),
            ("cost", self._cost, COST_NAMES),
        ):
            if find is None:
                values.update(reported(usual, names))
            elif (value := find(answer)) is not None:
                values[name] = value
        return values

    def _is_hit(self, entry: object) -> bool:
        return self._hits is None and isinstance(entry, Mapping) and self._path(entry) is not None

    def _entries(self, answer: object, *, partial: bool) -> Iterable[object]:
        if self._hits is not None:
            return self._hits(answer)
        if isinstance(answer, list):
            return answer
        if isinstance(answer, Mapping):
            for key in LISTS:
                if isinstance(answer.get(key), list):
                    return list(answer[key])
        if partial:
            return ()
        raise EngineError(
            f"no list of hits in the answer {excerpt(repr(answer))}; "
            "set hits: to its JSONPath, such as $.data[*]"
        )

    def _hit(self, entry: object) -> Hit:
        if isinstance(entry, str):
            return Hit(entry)
        path = self._path(entry)
        start, end = self._range(entry)
        score, distance = _number(self._score(entry)), _number(self._distance(entry))
        symbol, tokens = self._symbol(entry), self._tokens(entry)
        return Hit(
            path=path if isinstance(path, str) else "",
            score=score if score is not None else -distance if distance is not None else nan,
            start_line=start,
            end_line=end,
            symbol=symbol if isinstance(symbol, str) else "",
            tokens=tokens if isinstance(tokens, int) and tokens >= 0 else -1,
        )

    def _range(self, entry: object) -> tuple[int, int]:
        if self._lines is not None:
            return self._one_value(self._lines(entry))
        start, end = self._start(entry), self._end(entry)
        if start is None and end is None:
            return 0, 0
        first = _whole(start)
        last = first if end is None else _whole(end)
        if first is None or last is None:
            return BAD_RANGE
        return self._shifted(first, last)

    def _one_value(self, value: object) -> tuple[int, int]:
        if value is None:
            return 0, 0
        if isinstance(value, str) and (match := RANGE.fullmatch(value)):
            return self._shifted(int(match[1]), int(match[2] or match[1]))
        ends = [_whole(part) for part in value] if isinstance(value, list) else [_whole(value)]
        numbers = [number for number in ends if number is not None]
        if not numbers or len(numbers) != len(ends):
            return BAD_RANGE
        return self._shifted(numbers[0], numbers[-1])

    def _shifted(self, start: int, end: int) -> tuple[int, int]:
        # Line 0 where lines count from 1 is a mistake, and must not pass for "the whole file".
        start, end = start + self._shift, end + self._shift
        return BAD_RANGE if start < 1 else (start, end if end > 0 else -1)


FIRST_KEY = re.compile(r"""\$(?:\.|\[["'])([^\W\d][\w-]*)""")
MOST_KEYS = 10


def _keys(entry: Mapping[object, object]) -> str:
    """Return the first keys of *entry*, for an error."""
    names = ", ".join(map(str, list(entry)[:MOST_KEYS])) or "none"
    return names + (", ..." if len(entry) > MOST_KEYS else "")


def sorted_by_score(hits: list[Hit]) -> list[Hit]:
    """Return *hits* sorted by score, the best first; those without a score come last."""
    return sorted(hits, key=lambda hit: -hit.score if hit.score == hit.score else float("inf"))


def _one_of(path: str | None, names: tuple[str, ...]) -> Find:
    """Return what finds the first value at *path*, or else under one of *names*."""
    if path is not None and not path.isidentifier():
        find_all = _all_of(path)

        def find(entry: object) -> object:
            return next(iter(find_all(entry)), None)

        return find
    keys = (path,) if path is not None else names

    def get(entry: object) -> object:
        if isinstance(entry, Mapping):
            for key in keys:
                if entry.get(key) is not None:
                    return entry[key]
        return None

    return get


def _all_of(path: str) -> Callable[[object], Iterable[object]]:
    from jsonpath import JSONPathError, compile  # noqa: A004 - jsonpath's own name

    compiled = compile(absolute_jsonpath(path))

    def find(value: object) -> list[object]:
        if not isinstance(value, Mapping | list):
            return []
        try:
            return list(compiled.findall(value))
        except (JSONPathError, TypeError, RecursionError) as error:
            raise EngineError(f"JSONPath {path!r} fails on the answer: {error}") from None

    return find


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 12:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and abs(value) < 10**12 else None


GROUPS = ("path", "start", "end", "score", "symbol")
MENTION = re.compile(r"[^\s\"'`<>|()\[\]{},;*]+")
WITH_LINES = re.compile(r"(?P<path>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9})|:\d*)?[:.]*")


def json_document(text: str) -> object:
    """Return the JSON value *text*, or raise EngineError with its beginning."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        what = "nothing" if not text.strip() else f"text that is not JSON: {excerpt(text)}"
        raise EngineError(f"returned {what}; expected one JSON value") from None


def json_lines(text: str, reader: AnswerReader) -> ExternalReply:
    """Return the hits of JSON lines and what they report to have cost; blank lines are skipped.

    Of several lines that report a cost, the last counts: it has the sum.
    """
    entries = [json_document(line) for line in text.split("\n") if line.strip()]
    metadata: dict[str, object] = {}
    for entry in entries:
        metadata.update(reader.spending(entry, line=True))
    return ExternalReply([hit for entry in entries for hit in reader.one(entry)], {}, metadata)


class PatternReader:
    r"""Finds hits in text by an expression with the groups path, start, end, score and symbol.

    >>> reader = PatternReader(r"^(?P<path>[^:]+):(?P<start>\d+)", first_line=1)
    >>> [(hit.path, hit.start_line) for hit in reader.hits("src/a.py:10: login\nnothing")]
    [('src/a.py', 10)]
    """

    def __init__(self, pattern: str, *, first_line: int = 1, sort: bool = False) -> None:
        self._pattern = re.compile(pattern, re.MULTILINE)
        self._shift = 1 - first_line
        self._sort = sort

    def hits(self, text: str) -> list[Hit]:
        """Return a hit for each match of the expression."""
        hits = [self._hit(match.groupdict()) for match in self._pattern.finditer(text)]
        return sorted_by_score(hits) if self._sort else hits

    def _hit(self, groups: dict[str, str | None]) -> Hit:
        start, end = groups.get("start"), groups.get("end")
        lines = (0, 0)
        try:
            score = float(groups.get("score") or nan)
            if start:
                lines = int(start) + self._shift, int(end or start) + self._shift
        except (ValueError, OverflowError):
            score, lines = nan, (-1, -1)
        if start and lines[0] < 1:
            lines = (-1, -1)
        return Hit((groups.get("path") or "").strip(), score, *lines, groups.get("symbol") or "")


def mentioned_paths(text: str) -> Iterator[Hit]:
    """Yield each word of *text* that may be a path, with its line where ``path:line`` is written.

    The caller checks which of them exist in the corpus.

    >>> [(hit.path, hit.start_line) for hit in mentioned_paths("1. `src/a.py:7` in b")]
    [('1', 0), ('src/a.py', 7), ('in', 0), ('b', 0)]
    """
    for match in MENTION.finditer(text):
        word = match[0]
        if lines := WITH_LINES.fullmatch(word):
            start = int(lines["start"])
            yield Hit(lines["path"], nan, start, int(lines["end"] or start))
        else:
            yield Hit(word.rstrip(":."))
