"""Results of a code search benchmark, JSON: per test case the files returned, F1 and latency.

Read as a run, so that old results can be scored again. Writing needs figures and therefore has its
own function, :func:`write_results_json`; it may add fields and never renames the known ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import finite, load_json, opens_list, write_json
from karat.model import Answer, Hit, Outcome, Run

__all__ = [
    "FOLDER_FORMATS",
    "FORMAT",
    "AgentResults",
    "CaseResult",
    "check_added",
    "latency_of",
    "outcome_name",
    "write_results_json",
]

Values = Mapping[str, object]

NOTHING: Values = {}
# Formats of a folder of results: cases as JSON and CSV, and reports on all agents.
FOLDER_FORMATS = ("json", "csv", "markdown", "html")
# The benchmark's word for an agent that failed on a case; Karat's word is read as well.
AGENT_ERROR = "agent_error"
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome} | {AGENT_ERROR: Outcome.ERROR}
NS_PER_MS = 1_000_000
LONGEST_NS = 2**63 - 1


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
