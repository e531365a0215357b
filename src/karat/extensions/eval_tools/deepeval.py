"""Test runs of DeepEval: ``test_run_<date>.json`` and the files in ``.deepeval``.

Test cases are paired by their input, because their names are positions. A metric whose judge
failed has no score, and the test case then has no verdict.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from karat.extensions.eval_tools.documents import (
    Record,
    files_below,
    has_file,
    keys_in,
    no_scores,
    number,
    read_json,
    record,
    records,
    short,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader, distinct_rows
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.system.words import counted

RUNS = "test_run_*.json"
COSTS = {"tokenCost": "cost", "completionTime": "seconds"}
CASES = ("testCases", "conversationalTestCases")


def detect(path: str, head: bytes) -> bool:
    """Return whether a test run begins here, or a folder has some."""
    if not head:
        return has_file(path, RUNS)
    keys = keys_in(head)
    return "testCases" in keys and bool(keys & {"actualOutput", "metricsData", "metricsScores"})


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores of a test run, or of all in a folder.

    Each is one system, called by its identifier or its file.
    """
    files = []
    remarks: list[str] = []
    for file in files_below(path, RUNS):
        outer = record(read_json(file, options.limits))
        run = record(outer.get("testRunData")) or outer
        system = text(run.get("identifier")) or file.name.strip(".").partition(".")[0]
        cases = [case for field in CASES for case in records(run.get(field))]
        files.append((file, ScoreFile([_row(case, system) for case in cases])))
        if failed := sum(any(map(_judge_failed, _metrics(case))) for case in cases):
            of = counted(failed, "test case")
            remarks.append(f"{file.name}: the judge failed on {of}, without a verdict")
    rows = distinct_rows(files)
    if not any(row.scores for row in rows):
        raise no_scores(path, "test cases of DeepEval with metricsData")
    names = {name for row in rows for name in row.scores}
    measures = [
        ScoreMeasure(name, low=0.0, lower_is_better=True)
        for name in COSTS.values()
        if name in names
    ]
    fields = {"system": "identifier or file", "query": "input"}
    return ScoreFile(rows, fields, measures, remarks=tuple(remarks))


def _row(case: Record, system: str) -> ScoreRow:
    question = _question(case)
    return ScoreRow(short(question, 200), system, _scores(case), text=question)


def _question(case: Record) -> str:
    """Return the input of a test case, of a conversation its scenario or its first turn."""
    turns = records(case.get("turns"))
    first = text(turns[0].get("content")) if turns else ""
    asked = case.get("input")
    return (
        (text(asked) if isinstance(asked, str) else json.dumps(asked) if asked else "")
        or text(case.get("scenario"))
        or first
        or text(case.get("name"))
    )


def _metrics(case: Record) -> list[Record]:
    return records(case.get("metricsData"))


def _judge_failed(metric: Record) -> bool:
    return bool(metric.get("error")) or number(metric.get("score")) is None


def _scores(case: Record) -> Mapping[str, float | None]:
    metrics = _metrics(case)
    gone = any(map(_judge_failed, metrics))
    costs = {name: number(case.get(field)) for field, name in COSTS.items()}
    return {
        "success": None if gone else number(case.get("success")),
        **{
            text(metric.get("name")): None if _judge_failed(metric) else number(metric["score"])
            for metric in metrics
        },
        **{name: cost for name, cost in costs.items() if cost is not None},
    }


READER = ScoreReader(
    "deepeval",
    "test runs of DeepEval (test_run_*.json, or a folder): metrics by input; a file is one system",
    detect,
    read,
)
