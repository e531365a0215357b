r"""Results of a code search benchmark, CSV: one row per test case.

Lists are joined by ``|``; a ``|`` inside a name is written ``\|``.
"""

import re
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions
from karat.formats.csvtext import read_rows, render_rows
from karat.formats.results import OUTCOMES, AgentResults, check_added, latency_of
from karat.formats.source import Problems, parse_amount
from karat.model import Answer, Hit, Outcome, Run
from karat.system.files import write_text

__all__ = ["FORMAT", "write_results_csv"]

COLUMNS = (
    "test_case_id",
    "agent_name",
    "retrieved_files",
    "ground_truth_files",
    "f1_score",
    "latency_ms",
)
SEPARATOR = re.compile(r"(?<!\\)\|")


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first line names cases and the files returned."""
    names = head.partition(b"\n")[0].decode(errors="replace").strip().split(",")
    return "test_case_id" in names and "retrieved_files" in names


def read(path: Path, options: ReadOptions) -> Run:
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
        answer = _answer(problems, line, row)
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
    check_added(dict.fromkeys(further), COLUMNS)
    rows: list[list[str | float | None]] = [[*COLUMNS, *further]]
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


def _answer(problems: Problems, line: int, row: dict[str, str]) -> Answer:
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


FORMAT = Format(
    "results-csv",
    "run",
    "benchmark results, CSV: retrieved_files per test case (read as a run)",
    (".csv",),
    detect,
    read,
)
