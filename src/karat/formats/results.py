r"""Results of a code search benchmark, JSON or CSV: per test case files, F1 and latency.

Read as a run, so that old results can be scored again. Writing needs figures and therefore has its
own functions, :func:`write_results_json` and :func:`write_results_csv`; they may add fields and
never rename the known ones. In a CSV cell, lists are joined by ``|``; a ``|`` inside a name is
written ``\|``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import finite, load_json, opens_list, write_json
from karat.formats.records import read_rows, render_rows
from karat.formats.source import Problems, parse_amount
from karat.model import Answer, Hit, Outcome, Run
from karat.system.files import write_text

Values = Mapping[str, object]

NOTHING: Values = {}
# The benchmark's word for an agent that failed on a case; Karat's word is read as well.
AGENT_ERROR = "agent_error"
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome} | {AGENT_ERROR: Outcome.ERROR}
NS_PER_MS = 1_000_000
LONGEST_NS = 2**63 - 1
CSV_COLUMNS = (
    "test_case_id",
    "agent_name",
    "retrieved_files",
    "ground_truth_files",
    "f1_score",
    "latency_ms",
)
SEPARATOR = re.compile(r"(?<!\\)\|")


class CaseResult(NamedTuple):
    """One test case: returned and expected files, scores and latency (None: unknown)."""

    test_case_id: str
    retrieved_files: Sequence[str]
    ground_truth_files: Sequence[str]
    f1_score: float | None
    latency_ms: float | None
    more: Values = NOTHING


class AgentResults(NamedTuple):
    """All cases of one agent with the figures over them; *more* are further top-level fields."""

    agent_name: str
    timestamp: str
    aggregate_metrics: Mapping[str, float | None]
    results: Sequence[CaseResult]
    more: Values = NOTHING


def detect(_path: str, head: bytes) -> bool:
    """Return whether an object with an agent and its results begins here."""
    named = b'"agent_name"' in head
    return head.lstrip().startswith(b"{") and named and opens_list(head, "results")


def outcome_name(outcome: Outcome) -> str:
    """Return the name of *outcome* in result files.

    >>> [outcome_name(outcome) for outcome in Outcome]
    ['answered', 'agent_error', 'timeout']
    """
    return AGENT_ERROR if outcome is Outcome.ERROR else outcome.name.lower()


def read(path: Path, options: ReadOptions) -> Run:
    """Return the files of each case as hits in order, named after the agent.

    A case may carry ``outcome`` (answered, agent_error or timeout), which Karat's own results do.
    """
    value, check = load_json(path, limit=options.limits.json_bytes)
    top = check.record(value, ())
    rows = list(check.rows(top.get("results"), ("results",)))
    answers = [_answer(check, check.record(item, location), location) for location, item in rows]
    labels = (
        (location, answer.query_id) for (location, _), answer in zip(rows, answers, strict=True)
    )
    check.unique(labels, "test_case_id")
    name = check.text(top, "agent_name", (), default=path.name)
    check.finish()
    return Run.of(answers, name=name)


def write_results_json(results: AgentResults, path: Path) -> None:
    """Write *results*; a number that is not finite becomes null."""
    rows = []
    for case in results.results:
        row = {key: value for key, value in case._asdict().items() if key != "more"}
        rows.append(row | check_added(case.more, row))
    value: dict[str, object] = {
        "agent_name": results.agent_name,
        "timestamp": results.timestamp,
        "aggregate_metrics": results.aggregate_metrics,
        "total_test_cases": len(rows),
        "results": rows,
    }
    write_json(path, finite(value | check_added(results.more, value)))


def check_added(more: Values, known: Iterable[str]) -> dict[str, object]:
    """Return *more* if it only adds to the *known* names."""
    clash = sorted(set(more) & set(known))
    if clash:
        raise InputError(f"results already have {', '.join(clash)}; further fields need new names")
    return dict(more)


def latency_of(latency_ms: float | None) -> int:
    """Return milliseconds as nanoseconds, -1 for none; at most three centuries."""
    return -1 if latency_ms is None else min(round(latency_ms * NS_PER_MS), LONGEST_NS)


def _answer(check: Checker, row: Record, location: Location) -> Answer:
    files = [check.word(item, at) for at, item in check.listed(row, "retrieved_files", location)]
    if row.get("retrieved_files") is None:
        check.add(location, "'retrieved_files' is missing")
    latency = check.number(row, "latency_ms", location, default=-1.0, low=0)
    outcome = check.text(row, "outcome", location, default="answered")
    if outcome not in OUTCOMES:
        check.add(
            (*location, "outcome"), f"{outcome!r} is not valid; expected {', '.join(OUTCOMES)}"
        )
    return Answer(
        check.label(row, "test_case_id", location),
        tuple(Hit(file) for file in files),
        OUTCOMES.get(outcome, Outcome.ERROR),
        latency_of(latency if latency >= 0 else None),
    )


FORMAT = Format(
    "results",
    "run",
    "benchmark results, JSON: retrieved_files per test case (read as a run)",
    (".json",),
    detect,
    read,
)


def detect_csv(_path: str, head: bytes) -> bool:
    """Return whether the first line names cases and the files returned."""
    names = head.partition(b"\n")[0].decode(errors="replace").strip().split(",")
    return "test_case_id" in names and "retrieved_files" in names


def read_csv(path: Path, options: ReadOptions) -> Run:
    """Return the files of each case as hits in order; the file must be of one agent."""
    problems = Problems(path)
    rows = read_rows(path, limit=options.limits.csv_bytes)
    line, header = next(rows)
    for name in ("test_case_id", "retrieved_files"):
        if header.count(name) != 1:
            problems.add(line, f"expected one column {name!r}")
    problems.finish()
    answers: dict[str, Answer] = {}
    agents: set[str] = set()
    for line, cells in rows:
        if len(cells) != len(header):
            problems.add(line, f"{len(cells)} cells; expected {len(header)}, as in the header")
            continue
        row = dict(zip(header, cells, strict=True))
        answer = _csv_answer(problems, line, row)
        if answer.query_id in answers:
            problems.add(line, f"test case {answer.query_id!r} appears twice")
        answers[answer.query_id] = answer
        agents.add(row.get("agent_name", ""))
    if len(agents) > 1:
        problems.add(0, f"results of {len(agents)} agents; expected one per file")
    problems.finish()
    return Run.of(answers.values(), name="".join(agents) or path.name)


def write_results_csv(results: AgentResults, path: Path) -> None:
    """Write one row per case; keys of a case's *more* become further columns."""
    further = list(dict.fromkeys(key for case in results.results for key in case.more))
    check_added(dict.fromkeys(further), CSV_COLUMNS)
    rows: list[list[str | float | None]] = [[*CSV_COLUMNS, *further]]
    rows.extend(
        [
            case.test_case_id,
            results.agent_name,
            _joined(case.retrieved_files),
            _joined(case.ground_truth_files),
            _number(case.f1_score),
            _number(case.latency_ms),
            *(_cell(case.more.get(key)) for key in further),
        ]
        for case in results.results
    )
    write_text(path, render_rows(rows))


def _csv_answer(problems: Problems, line: int, row: dict[str, str]) -> Answer:
    label = row["test_case_id"]
    if not label.strip():
        problems.add(line, "the test_case_id is empty")
    files = [name.replace(r"\|", "|") for name in SEPARATOR.split(row["retrieved_files"])]
    text = row.get("latency_ms", "")
    latency = parse_amount(text) if text else None
    if text and latency is None:
        problems.add(line, f"latency_ms {text!r} is not a number of 0 or more")
    outcome = row.get("outcome") or "answered"
    if outcome not in OUTCOMES:
        problems.add(line, f"outcome {outcome!r} is not valid; expected {', '.join(OUTCOMES)}")
    return Answer(
        label,
        tuple(Hit(name) for name in files if name),
        OUTCOMES.get(outcome, Outcome.ERROR),
        latency_of(latency),
    )


def _joined(names: Iterable[str]) -> str:
    for name in names:
        if name.endswith("\\") or r"\|" in name:
            raise InputError(f"a list in CSV cannot hold the name {name!r}")
    return "|".join(name.replace("|", r"\|") for name in names)


def _number(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _cell(value: object) -> str | float | None:
    if value is None or isinstance(value, str):
        return value
    return _number(value) if isinstance(value, int | float) else str(value)


CSV = Format(
    "results-csv",
    "run",
    "benchmark results, CSV: retrieved_files per test case (read as a run)",
    (".csv",),
    detect_csv,
    read_csv,
)
