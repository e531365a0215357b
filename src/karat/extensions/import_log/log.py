"""Make a gold set from a search log with clicks, which is CSV or JSON lines."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import starmap
from math import isfinite
from statistics import median
from typing import NamedTuple
from unicodedata import normalize

from karat.errors import InputError
from karat.formats.base import DEFAULT
from karat.formats.jsontext import parse_json
from karat.formats.records import read_rows
from karat.formats.source import Problems, read_text
from karat.model import Dataset, Query, Target
from karat.model.frozen import EMPTY
from karat.system.words import MOST_NAMED, counted

# Names of each column, without case; the first one is Karat's.
LOG_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "q", "search_term", "query_text", "search_query"),
    "path": (
        *("path", "doc", "document", "clicked", "clicked_path", "doc_id", "url", "uri"),
        *("clicked_url", "clicked_uri", "clicked_doc", "clicked_doc_id", "clicked_document"),
        *("document_id", "result_url"),
    ),
    "rank": ("rank", "position", "click_rank", "click_position"),
    "time": ("time", "timestamp", "clicked_at"),
    "session": ("session", "session_id", "user", "user_id"),
    "dwell": (
        *("dwell", "dwell_s", "dwell_seconds", "dwell_time", "dwell_time_s", "dwell_time_seconds"),
        *("dwell_ms", "dwell_time_ms"),
    ),
    "clicked": ("clicked", "is_clicked", "is_click", "click"),
}
# Whether a result was opened, in a log that also has results that were only shown.
OPENED = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}
# A dwell column with another ending is in seconds.
MILLISECONDS = "_ms"
# A longer median is probably in another unit than seconds.
LONGEST_DWELL_S = 3_600
REQUIRED = ("query", "path")
SPACE = re.compile(r"\s+")
# Thirds of all searches: the most frequent queries, less frequent ones, and rare ones.
FREQUENCIES = ("head", "torso", "tail")
BIAS = (
    "clicks favour top results, and results that were never shown have no judgment; an engine "
    "that finds other correct answers scores too low"
)


class Click(NamedTuple):
    """One line of a log; an empty path is a search without a click.

    *rank* is where the result stood (0: unknown), *time* in seconds since 1970, *dwell_s* how long
    the reader stayed; None where the log does not say.
    """

    query: str
    path: str
    session: str = ""
    rank: int = 0
    time: float | None = None
    dwell_s: float | None = None


class Log(NamedTuple):
    """The lines of a log, and which of the COLUMNS it has.

    *used* has the name of each of them in the log, *unused* the other names.
    """

    clicks: tuple[Click, ...]
    columns: frozenset[str]
    used: Mapping[str, str] = EMPTY
    unused: tuple[str, ...] = ()


def read_clicks(path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Log:
    """Return the clicks in *path*; *columns* names those that are called otherwise.

    A dwell column whose name ends in ``_ms`` is in milliseconds, any other in seconds.
    Every line that cannot be read is a problem, and all are reported at once.
    """
    named = dict(columns or {})
    unknown = sorted(named.keys() - LOG_COLUMNS.keys())
    if unknown:
        raise InputError(f"no column {unknown[0]!r}; expected one of {', '.join(LOG_COLUMNS)}")
    problems = Problems(path)
    rows = list(_read_fields(path, problems))
    problems.finish()
    present = dict.fromkeys(key for _, row in rows for key in row)
    clicked = _clicked_column([row for _, row in rows], named, present)
    others = {name: None for name in present if name != clicked}
    columns_by_name = {
        column: name
        for column, names in LOG_COLUMNS.items()
        if (name := clicked if column == "clicked" else _called(column, named, names, others))
    }
    for column in dict.fromkeys((*REQUIRED, *named)):
        if column not in columns_by_name:
            usual = " or ".join(LOG_COLUMNS[column][:MOST_NAMED])
            expected = named.get(column) or f"{usual}, or name it with --column {column}=NAME"
            there = ", ".join(present) or "none"
            problems.add(0, f"no column for the {column}; expected {expected}; the log has {there}")
    problems.finish()
    clicks = [_click(row, columns_by_name, line, problems) for line, row in rows]
    problems.finish()
    unused = tuple(name for name in present if name not in columns_by_name.values())
    return Log(tuple(clicks), frozenset(columns_by_name), columns_by_name, unused)


def _called(
    column: str, named: Mapping[str, str], names: tuple[str, ...], present: dict[str, None]
) -> str | None:
    if column in named:
        return named[column] if named[column] in present else None
    folded = {name.casefold(): name for name in reversed(present)}
    return next((folded[name] for name in names if name in folded), None)


def _clicked_column(
    rows: Sequence[Mapping[str, object]], named: Mapping[str, str], present: dict[str, None]
) -> str | None:
    """Return the name of the column that says whether a result was opened; others hold paths."""
    free = {name: None for name in present if name not in named.values()}
    name = _called(
        "clicked", named, LOG_COLUMNS["clicked"], present if "clicked" in named else free
    )
    if name is None or "clicked" in named:
        return name
    values = {_text(row.get(name)).casefold() for row in rows}
    return name if values != {""} and values <= OPENED.keys() else None


def _read_fields(
    path: str | os.PathLike[str], problems: Problems
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the line number and the fields of each line."""
    text = read_text(path, limit=DEFAULT.csv_bytes, setting="csv_bytes")
    if text.lstrip().startswith("{"):
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            value = parse_json(line, os.fspath(path), line=number)
            if isinstance(value, Mapping):
                yield number, value
            else:
                problems.add(number, "expected an object")
        return
    rows = read_rows(path, limit=DEFAULT.csv_bytes, any_delimiter=True)
    _, header = next(rows)
    for number, row in rows:
        if len(row) != len(header):
            problems.add(number, f"{len(row)} cells; expected {len(header)}, as in the header")
        else:
            yield number, dict(zip(header, row, strict=True))


def _click(
    row: Mapping[str, object], names: Mapping[str, str], line: int, problems: Problems
) -> Click:
    values = {column: _text(row.get(name)) for column, name in names.items()}
    if not values["query"]:
        problems.add(line, "the query is empty")
    rank = _number(values.get("rank", ""), "rank", line, problems)
    if rank is not None and (rank < 1 or rank != int(rank)):
        problems.add(line, f"rank {values['rank']!r} is not a whole number from 1")
    dwell = _number(values.get("dwell", ""), "dwell", line, problems)
    if dwell is not None and names["dwell"].casefold().endswith(MILLISECONDS):
        dwell /= 1_000
    opened = OPENED.get(values.get("clicked", "1").casefold())
    if opened is None:
        problems.add(line, f"clicked {values['clicked']!r} is not 1 or 0, true or false")
    return Click(
        values["query"],
        values["path"] if opened else "",
        values.get("session", ""),
        int(rank or 0),
        _time(values.get("time", ""), line, problems),
        dwell,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _number(text: str, column: str, line: int, problems: Problems) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or number < 0:
        problems.add(line, f"{column} {text!r} is not a number of 0 or more")
        return None
    return number


def _time(text: str, line: int, problems: Problems) -> float | None:
    """Return seconds since 1970, from such a number or an ISO date; without a zone it is UTC."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        problems.add(line, f"time {text!r} is not a number or a time such as 2026-05-01T12:00:00Z")
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class LogRules:
    """Rules that turn clicks into judgments.

    A result is a target once *min_clicks* sessions have opened it for a query. A query of fewer
    than *min_sessions* is left out: it may identify a user. Grades: 1, one more from *many_clicks*
    on, and one more where at least half of the clicks were content ones: the reader stayed for
    *dwell_s*, or without dwell times opened nothing after it in the session.
    """

    min_clicks: int = 1
    min_sessions: int = 1
    many_clicks: int = 3
    dwell_s: float = 30.0


class ImportResult(NamedTuple):
    """The gold set; *dropped* counts what is not in it, by reason.

    *notes* and *warnings* are sentences.
    """

    gold: Dataset
    dropped: Mapping[str, int]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class OpenedResult(NamedTuple):
    """One result that one session opened for one query, however often."""

    path: str
    content: bool | None


def import_log(
    log: Log,
    rules: LogRules | None = None,
    *,
    name: str = "log",
    match: str = "exact",
    source: str = "",
) -> ImportResult:
    """Return the gold set *name* of *log*; queries that differ in case or spacing only are one.

    *source* is the file of the log, by default the same name.
    Neither sessions nor times are kept. The id of a query is made from its words, so that a later
    log gives the same id to the same query. Queries that are asked more often come first.
    """
    rules = rules or LogRules()
    source = source or name
    if rules.min_sessions > 1 and "session" not in log.columns:
        raise InputError("the log has no sessions, so the number of users per query is unknown")
    asked: dict[str, list[Click]] = defaultdict(list)
    for number, click in enumerate(log.clicks):
        # A line without a session counts as one of its own.
        session = click.session or f"\0{number}"
        asked[normalised(click.query)].append(click._replace(session=session))
    searches = {key: len({click.session for click in lines}) for key, lines in asked.items()}
    tags = _frequencies(searches)
    dropped: Counter[str] = Counter()
    queries = []
    for key, sessions in sorted(searches.items(), key=lambda pair: (-pair[1], pair[0])):
        if sessions < rules.min_sessions:
            dropped["queries with too few sessions"] += 1
            continue
        targets = _targets(asked[key], rules, dropped)
        if not targets:
            dropped["queries without a target"] += 1
            continue
        text = Counter(click.query for click in asked[key]).most_common(1)[0][0]
        extra = {"sessions": sessions}
        tag = {"frequency": tags[key]}
        queries.append(Query(_id(key), SPACE.sub(" ", text), targets, tag, extra))
    if not queries:
        reasons = ", ".join(starmap(dropped_text, dropped.items())) or "the log is empty"
        raise InputError(f"{source}: no query remains: {reasons}")
    metadata = {"source": source, "rules": asdict(rules), "dropped": dict(dropped), "note": BIAS}
    gold = Dataset.of(queries, name=name, match=match, metadata=metadata)
    notes = (*_rank_notes(log.clicks), BIAS)
    return ImportResult(gold, dropped, notes, tuple(_dwell_warnings(log)))


def normalised(query: str) -> str:
    """Return what two spellings of one query share.

    >>> normalised("  Where is   LOGIN "), normalised("ﬁle") == normalised("file")
    ('where is login', True)
    """
    return SPACE.sub(" ", normalize("NFKC", query).casefold()).strip()


def _id(key: str) -> str:
    return f"log-{sha256(key.encode()).hexdigest()[:12]}"


def _frequencies(searches: Mapping[str, int]) -> dict[str, str]:
    """Return head, torso or tail by the share of all searches for more frequent queries.

    >>> _frequencies({"a": 6, "b": 2, "c": 2, "d": 1})
    {'a': 'head', 'b': 'torso', 'c': 'torso', 'd': 'tail'}
    """
    total = sum(searches.values())
    of_count: dict[int, str] = {}
    before = 0
    for count, times in sorted(Counter(searches.values()).items(), reverse=True):
        of_count[count] = FREQUENCIES[min(2, 3 * before // total)]
        before += count * times
    return {key: of_count[count] for key, count in searches.items()}


def _targets(clicks: Sequence[Click], rules: LogRules, dropped: Counter[str]) -> tuple[Target, ...]:
    """Return the targets of one query, the best first."""
    opened: dict[str, list[bool | None]] = defaultdict(list)
    for session in _sessions(clicks):
        for entry in _opened(session, rules.dwell_s):
            opened[entry.path].append(entry.content)
    targets = []
    for path, contents in opened.items():
        if len(contents) < rules.min_clicks:
            dropped["results with too few clicks"] += 1
            continue
        targets.append(Target(path, float(_grade(contents, rules))))
    return tuple(sorted(targets, key=lambda target: (-target.grade, target.path)))


def _grade(contents: Sequence[bool | None], rules: LogRules) -> int:
    known = [content for content in contents if content is not None]
    content = bool(known) and 2 * sum(known) >= len(known)
    return 1 + (len(contents) >= rules.many_clicks) + content


def _sessions(clicks: Iterable[Click]) -> list[list[Click]]:
    by_session: dict[str, list[Click]] = defaultdict(list)
    for click in clicks:
        if click.path:
            by_session[click.session].append(click)
    return list(by_session.values())


def _opened(clicks: Sequence[Click], dwell_s: float) -> list[OpenedResult]:
    """Return each result of one session once; further clicks on it do not count."""
    content: dict[str, bool | None] = {}
    latest = max((click.time for click in clicks if click.time is not None), default=None)
    # Several at the same moment are all the last: nobody knows which was later.
    last = {click.path for click in clicks if click.time == latest}
    for click in clicks:
        if click.dwell_s is not None:
            stayed: bool | None = click.dwell_s >= dwell_s
        else:
            stayed = None if latest is None else click.path in last
        content[click.path] = content.get(click.path) or stayed
    return [OpenedResult(path, stayed) for path, stayed in content.items()]


def _rank_notes(clicks: Sequence[Click]) -> tuple[str, ...]:
    ranks = [click.rank for click in clicks if click.path and click.rank]
    if not ranks:
        return ()
    return (f"{ranks.count(1) / len(ranks):.0%} of the clicks are on the first result",)


def _dwell_warnings(log: Log) -> Iterator[str]:
    known = [click.dwell_s for click in log.clicks if click.dwell_s is not None]
    if known and (middle := median(known)) > LONGEST_DWELL_S:
        yield (
            f"the median dwell time in column {log.used.get('dwell', 'dwell')} is {middle:,.0f} s; "
            "check its unit: milliseconds if the name ends in _ms, otherwise seconds"
        )


def dropped_text(reason: str, count: int) -> str:
    """Return one entry of the dropped lines in words.

    >>> dropped_text("queries without a target", 1), dropped_text("results with too few clicks", 2)
    ('1 query without a target', '2 results with too few clicks')
    """
    noun, _, rest = reason.partition(" ")
    return f"{counted(count, 'query' if noun == 'queries' else noun.removesuffix('s'))} {rest}"
