"""Evaluations of Claude Code plug-ins: ``aggregate-result.json`` of ``claude plugin eval``.

The runs of a case without the plug-in are the baseline. A run that ended with an error, such as
a usage limit, was graded on what it had until then: its score is a failure's and no verdict.
"""

from collections import Counter
from collections.abc import Iterator
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
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.system.words import counted

RESULT = "aggregate-result.json"
ARMS = ("without", "with")
COSTS = {"costUsd": "cost", "durationSeconds": "seconds"}


def detect(path: str, head: bytes) -> bool:
    """Return whether a result begins here, or a folder has some."""
    if not head:
        return has_file(path, RESULT)
    keys = keys_in(head)
    return {"schemaVersion", "suite", "cases"} <= keys and bool(keys & {"ablation", "arms"})


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores of each run of each case, with the plug-in and without it."""
    files = files_below(path, RESULT)
    rows: list[ScoreRow] = []
    remarks: list[str] = []
    for file in files:
        result = record(read_json(file, options.limits))
        name = file.absolute().parent.name if len(files) > 1 else ""
        rows += _rows(result, f" ({name})" if name else "")
        remarks += _remarks(file, result)
    if not any(row.scores or row.failed for row in rows):
        raise no_scores(path, "cases with runs in cases[].arms")
    measures = [ScoreMeasure(name, low=0.0, lower_is_better=True) for name in COSTS.values()]
    fields = {"system": "arm", "query": "case", "trial": "run"}
    return ScoreFile(rows, fields, measures, remarks=tuple(remarks))


def _rows(result: Record, behind: str) -> Iterator[ScoreRow]:
    plugins = " + ".join(
        " ".join(filter(None, (text(each.get("name")), text(each.get("version")))))
        for each in records(record(result.get("suite")).get("plugins"))
    )
    names = {"with": plugins or "with the plug-in", "without": "without plug-ins"}
    for arm in ARMS:
        for case in records(result.get("cases")):
            runs = records(record(case.get("arms")).get(arm))
            for number_of_run, run in enumerate(runs, 1):
                failed = bool(run.get("error"))
                yield ScoreRow(
                    text(case.get("name")),
                    names[arm] + behind,
                    {} if failed else dict(_scores(run)),
                    trial=str(number_of_run),
                    text=short(text(case.get("promptMarkdown")), 200),
                    failed=failed,
                )


def _scores(run: Record) -> Iterator[tuple[str, float | None]]:
    yield "score", number(run.get("score"))
    for field, name in COSTS.items():
        if (cost := number(run.get(field))) is not None:
            yield name, cost


def _remarks(file: Path, result: Record) -> Iterator[str]:
    if result.get("partial"):
        reason = text(result.get("partialReason")) or "it did not finish"
        yield f"{file.name}: the evaluation is partial: {reason}"
    errors = Counter(
        short(text(run.get("error")) or "error")
        for case in records(result.get("cases"))
        for arm in ARMS
        for run in records(record(case.get("arms")).get(arm))
        if run.get("error")
    )
    if errors:
        listed = ", ".join(f"{count} {error}" for error, count in errors.most_common(3))
        yield f"{file.name}: {counted(errors.total(), 'run')} ended with an error ({listed})"


READER = ScoreReader(
    "claude-plugin",
    "results of claude plugin eval (aggregate-result.json): scores with a plug-in and without",
    detect,
    read,
)
