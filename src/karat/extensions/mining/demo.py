"""karat demo: build the bundled example history, mine it, and say which engine is best on it.

``demo_history.txt`` has every commit of Kiosk, a small web shop that was written for this purpose.
The repository is built by ``git fast-import``; authors and dates depend on the text alone, so every
machine gets the same commit ids.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import isnan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from karat.app.evaluate import (
    ExperimentKind,
    ExperimentRequest,
    Where,
    choose_engines,
    configure_engines,
)
from karat.corpus.git_objects import git
from karat.engines.embedding.base import PACKAGED, missing_modules
from karat.errors import InputError
from karat.extensions.mining.generate import generate, write_gold
from karat.extensions.mining.mine import MiningProgress
from karat.extensions.mining.recipe import MiningRecipe
from karat.model import Dataset, Query
from karat.model.comparison import Comparison
from karat.model.evaluation import ComparisonResult
from karat.model.timings import RunResult
from karat.report.display import ELLIPSIS, display_width, shorten
from karat.report.findings.latency import latencies_ms
from karat.report.table import Cell, Column, Table, number
from karat.scoring.settings import Scoring
from karat.system.words import join_names

NAME = "kiosk"
HISTORY = Path(__file__).with_name("demo_history.txt")
_HEAD = re.compile(r"(===|\+\+\+|@@|---) (\S+)(?: (.+))?")
# 4 March 2024, 9:00 UTC. The step is a prime number of seconds, so that hours vary.
_FIRST, _STEP = 1_709_542_800, 150_343


class DemoCommit(NamedTuple):
    """One commit of the example; *files* has the new text of each changed path, None if deleted."""

    author: str
    message: str
    files: Mapping[str, str | None]


def read_history(path: Path = HISTORY) -> Iterator[DemoCommit]:
    """Yield the commits in *path*, the oldest first; InputError if a change does not fit.

    >>> first = next(read_history())
    >>> first.author, first.message, sorted(first.files)[:2]
    ('mara', 'Start the project', ['README.md', 'kiosk/__init__.py'])
    """
    tree: dict[str, str] = {}
    for title, parts in _commits(path.read_text(encoding="utf-8").splitlines()):
        files: dict[str, str | None] = {}
        body: list[str] = []
        for mark, name, lines in parts:
            if mark == "===":
                body = lines
            elif mark == "---":
                files[name] = None
                del tree[name]
            else:
                tree[name] = _added(lines) if mark == "+++" else _changed(tree[name], lines, title)
                files[name] = tree[name]
        author, _, subject = title.partition(" ")
        yield DemoCommit(author, "\n\n".join(filter(None, (subject, "\n".join(body)))), files)


_Part = tuple[str, str, list[str]]


def _commits(lines: Iterable[str]) -> Iterator[tuple[str, list[_Part]]]:
    """Yield each commit as its title and its parts: mark, path and lines."""
    title, parts = "", list[_Part]()
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head and head[1] == "===":
            if parts:
                yield title, parts
            title, parts = line.partition(" ")[2], [("===", "", [])]
        elif head and parts:
            parts.append((head[1], head[2], []))
        elif parts:
            parts[-1][2].append(line)
    if parts:
        yield title, parts


def _added(lines: list[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def _changed(text: str, lines: list[str], title: str) -> str:
    """Return *text* with one change: context and removed lines must occur exactly once."""
    rows = [line or " " for line in "\n".join(lines).rstrip("\n").split("\n")]
    old, new = ("".join(f"{row[1:]}\n" for row in rows if row[0] in keep) for keep in (" -", " +"))
    before, match, after = f"\n{text}".partition(f"\n{old}")
    if not match or f"\n{old}" in f"\n{after}":
        raise InputError(f"{title}: these lines do not occur exactly once:\n{old}")
    return f"{before}\n{new}{after}"[1:]


def build_repository(folder: str | os.PathLike[str], history: Path = HISTORY) -> Path:
    """Return the bare repository ``kiosk.git`` in *folder*, built from *history*."""
    target = Path(folder) / f"{NAME}.git"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    git(str(target), "init", "--quiet", "--bare", "--initial-branch=main", ".")
    stream = b"".join(_records(read_history(history)))
    git(str(target), "fast-import", "--quiet", given=stream)
    return target


def _records(commits: Iterable[DemoCommit]) -> Iterator[bytes]:
    """Yield the stream of ``git fast-import``, see its manual page."""
    yield b"feature done\n"
    for index, commit in enumerate(commits):
        when = f"{_FIRST + index * _STEP} +0000"
        who = f"{commit.author.title()} <{commit.author}@example.org> {when}"
        yield f"commit refs/heads/main\ncommitter {who}\n".encode()
        yield _data(commit.message + "\n")
        for path, text in commit.files.items():
            if text is None:
                yield f"D {path}\n".encode()
            else:
                yield f"M 100644 inline {path}\n".encode() + _data(text)
    yield b"done\n"


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


# The last commit before the first bug is fixed: all modules of the first version are there.
FIRST_VERSION = "Write the first docs"


class FirstVersion(NamedTuple):
    """The files of the example's first version, and queries about the changes that came later."""

    files: Mapping[str, str]
    gold: Dataset


@cache
def first_version() -> FirstVersion:
    """Return the first version of the example, for a search of one version instead of many.

    Its gold set has the mined queries all of whose targets exist in that version.
    """
    files: dict[str, str] = {}
    for commit in read_history():
        files |= {path: text for path, text in commit.files.items() if text is not None}
        if commit.message == FIRST_VERSION:
            break
    with TemporaryDirectory(prefix="karat-demo-") as folder:
        mined = generate([str(build_repository(folder))], MiningRecipe(limit=0)).dataset
    queries = [
        Query(query.id, query.text, query.targets, query.tags)
        for query in mined.queries()
        if all(target.path in files for target in query.targets)
    ]
    return FirstVersion(files, Dataset.of(queries, name=NAME))


# Word vectors embed the whole history in seconds; a transformer would take minutes.
ENGINES = {"keyword": "keyword", "bm25": "bm25", "hybrid": "hybrid(model=static)"}
MEASURES = ("ndcg@10", "hit@5", "mrr@10")
# With fewer cases, hardly any difference between two engines would be significant.
FEWEST = 30
MOST_CASES = 250
TIMED = 20
SHOWN_CASES = 5
# Both columns fit on a terminal of 80 columns.
QUERY_WIDTH, PATH_WIDTH = 50, 28


def has_embeddings() -> bool:
    """Return whether the engine hybrid of the demo can run here."""
    return PACKAGED.has("static") and not missing_modules("static")


def engine_specs() -> Mapping[str, str]:
    """Return the engines to compare by name, the baseline first; hybrid only if it can run."""
    return {name: ENGINES[name] for name in ENGINES if name != "hybrid" or has_embeddings()}


def prepare(
    folder: str | os.PathLike[str],
    repository: str | os.PathLike[str] | None = None,
    *,
    watch: MiningProgress | None = None,
) -> ExperimentRequest:
    """Mine a gold set into *folder* and return the comparison of the demo's engines on it.

    The gold set is mined from *repository*, or from the bundled example. InputError is raised if
    it has too few cases to compare engines.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    source = build_repository(folder) if repository is None else Path(repository)
    gold = generate([str(source)], MiningRecipe(limit=MOST_CASES), watch=watch).dataset
    if len(gold) < FEWEST:
        raise InputError(
            f"{source}: {len(gold)} of its commits can be queries; expected {FEWEST} or more. "
            "karat demo without --repo uses a bundled example"
        )
    write_gold(gold, str(Path(folder) / "gold.json"))
    scoring = Scoring(measures=MEASURES)
    specs = engine_specs()
    configurations = configure_engines(choose_engines([*specs.values()]), gold, scoring, k=None)
    return ExperimentRequest(
        gold=gold,
        configurations=tuple(
            replace(configuration, name=name)
            for configuration, name in zip(configurations, specs, strict=True)
        ),
        where=Where(repositories={"": str(source)}),
        kind=ExperimentKind.COMPARE,
        scoring=scoring,
        timed=TIMED,
        wait=False,
    )


def case_table(gold: Dataset, most: int = SHOWN_CASES) -> Table:
    """Return *most* cases, spread over the history: the query and the first of its targets."""
    short = [row for row, text in enumerate(gold.texts) if display_width(text) <= QUERY_WIDTH]
    candidates = short if len(short) >= most else range(len(gold))
    step = max(1, len(candidates) // most)
    rows = []
    for row in candidates[step // 2 :: step][:most]:
        first, *more = gold.targets(row)
        rest = f" + {len(more)}" if more else ""
        query = shorten(gold.texts[row], QUERY_WIDTH)
        rows.append((Cell(query), Cell(_shorten_left(f"{first.path}{rest}", PATH_WIDTH))))
    return Table("", (Column("query"), Column("file to find")), tuple(rows))


def answer(comparison: Comparison) -> str:
    """Return in one sentence which engine is best on the first measure, and against which others.

    An engine is only called better where the difference is significant.
    """
    lead = comparison.metrics[0]
    leaders = comparison.leaders(lead)
    best, mean = leaders[0], comparison.mean(leaders[0], lead).mean or 0.0
    pairs = [one for one in comparison.differences if one.metric == lead]
    others = {
        one.system if one.baseline == best else one.baseline: one.is_significant
        for one in pairs
        if best in (one.baseline, one.system) and not {one.baseline, one.system} <= {*leaders}
    }
    beaten = [name for name, significant in others.items() if significant]
    level = [name for name, significant in others.items() if not significant]
    said = [f"significantly better than {join_names(beaten)}"] if beaten else []
    said += [f"not significantly better than {join_names(level)}"] if level else []
    rank = f"{join_names(leaders)} {'ranks' if len(leaders) == 1 else 'rank'} the right file"
    text = ": ".join(filter(None, [f"{rank} highest ({lead} {mean:.3f})", ", ".join(said)]))
    return f"{text}."


def result_table(result: ComparisonResult, runs: Sequence[RunResult]) -> Table:
    """Return one row for each engine, short enough for 80 columns."""
    comparison = result.comparison
    lead, hit = comparison.metrics[:2]
    means = {(one.system, one.metric): one for one in comparison.means}
    against_first = {
        one.system: one
        for one in comparison.differences
        if one.metric == lead and one.baseline == comparison.baseline
    }
    top = max(means[system, lead].mean or 0.0 for system in comparison.systems)
    rows = []
    for system, run in zip(comparison.systems, runs, strict=True):
        mean, change = means[system, lead], against_first.get(system)
        low, high = mean.interval.low, mean.interval.high
        times = latencies_ms(run, result.evaluations[0].table.query_ids)
        known = [each for each in times if not isnan(each)]
        rows.append(
            (
                Cell(system),
                number(mean.mean, digits=3, best=mean.mean == top),
                Cell("-" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"),
                number(change.difference, signed=True, digits=3) if change else Cell("baseline"),
                Cell(f"{means[system, hit].mean or 0.0:.0%}"),
                Cell(f"{median(known):.1f} ms" if known else "-"),
            )
        )
    titles = (lead, "95% interval", "change", "in the top 5", "latency")
    columns = (Column("engine"), *(Column(title, numeric=True) for title in titles))
    note = f"* highest mean; change: against {comparison.baseline}; latency: median"
    return Table("", columns, tuple(rows), notes=(note,))


def _shorten_left(text: str, width: int) -> str:
    """Return the end of *text* in *width* columns, with dots where something was cut.

    >>> _shorten_left("src/karat/scoring/stats/paired.py", 20)
    '.../stats/paired.py'
    >>> _shorten_left("stats/a_very_long_name_of_a_file.py", 20), _shorten_left("a.py", 20)
    ('...name_of_a_file.py', 'a.py')
    """
    if display_width(text) <= width:
        return text
    end = text
    while end and display_width(end) > width - len(ELLIPSIS):
        end = end[1:]
    # Whole folders are easier to read than a part of one.
    folder = end.find("/")
    return ELLIPSIS + (end[folder:] if folder >= 0 else end)
