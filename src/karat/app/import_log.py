"""Make a gold set from a search log with clicks."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import NamedTuple
from unicodedata import normalize

from karat.errors import InputError
from karat.formats.clicks import Click, Log
from karat.model import Dataset, Query, Target

__all__ = ["ImportResult", "LogRules", "import_log", "normalised"]

SPACE = re.compile(r"\s+")
# Thirds of all searches: the most frequent queries, less frequent ones, and rare ones.
FREQUENCIES = ("head", "torso", "tail")
BIAS = (
    "clicks favour top results, and results that were never shown have no judgment; an engine "
    "that finds other correct answers scores too low"
)


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
    """The gold set; *dropped* counts what is not in it, by reason, and *notes* are sentences."""

    gold: Dataset
    dropped: Mapping[str, int]
    notes: tuple[str, ...]


class LogClick(NamedTuple):
    """One result that one session opened for one query, however often."""

    path: str
    content: bool | None


def import_log(
    log: Log, rules: LogRules | None = None, *, name: str = "log", match: str = "exact"
) -> ImportResult:
    """Return the gold set of *log*; queries that differ in case or spacing only are one.

    Neither sessions nor times are kept. The id of a query is made from its words, so that a later
    log gives the same id to the same query. Queries that are asked more often come first.
    """
    rules = rules or LogRules()
    if rules.min_sessions > 1 and "session" not in log.columns:
        raise InputError("the log has no sessions, so the number of users per query is unknown")
    asked: dict[str, list[Click]] = defaultdict(list)
    for place, click in enumerate(log.clicks):
        # A line without a session counts as one of its own.
        session = click.session or f"\0{place}"
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
        raise InputError(f"{name}: no query remains: {_counted(dropped) or 'the log is empty'}")
    metadata = {"source": name, "rules": asdict(rules), "dropped": dict(dropped), "note": BIAS}
    gold = Dataset.of(queries, name=name, match=match, metadata=metadata)
    return ImportResult(gold, dropped, (*_rank_notes(log.clicks), BIAS))


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
    found: dict[str, list[Click]] = defaultdict(list)
    for click in clicks:
        if click.path:
            found[click.session].append(click)
    return list(found.values())


def _opened(clicks: Sequence[Click], dwell_s: float) -> list[LogClick]:
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
    return [LogClick(path, stayed) for path, stayed in content.items()]


def _rank_notes(clicks: Sequence[Click]) -> tuple[str, ...]:
    ranks = [click.rank for click in clicks if click.path and click.rank]
    if not ranks:
        return ()
    return (f"{ranks.count(1) / len(ranks):.0%} of the clicks are on the first result",)


def _counted(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items())
