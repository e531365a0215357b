"""Results of SWE-bench: details of instances, reports of the harness, and lists of resolved ones.

The lists in ``results.json`` of a submission name what was resolved and not what was tried: an
instance that any submission beside it names was tried by all of them.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.extensions.eval_tools.documents import (
    Record,
    files_below,
    has_file,
    items,
    keys_in,
    no_scores,
    number,
    read_json,
    record,
    records,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow

RESULTS = "results/results.json"
DETAILS = "per_instance_details.json"
RESOLVED = "resolved"
COSTS = ("cost", "api_calls")
# What a report of the harness says of an instance without a verdict: its patch did not run.
FAILURES = ("error_ids", "empty_patch_ids", "incomplete_ids")


def detect(path: str, head: bytes) -> bool:
    """Return whether results of instances begin here, or a folder has submissions."""
    if not head:
        return has_file(path, RESULTS) or has_file(path, DETAILS)
    keys = keys_in(head)
    return (
        {RESOLVED, "api_calls"} <= keys
        or {"resolved_ids", "unresolved_ids"} <= keys
        or {RESOLVED, "no_generation"} <= keys
        or {"leaderboards", "results", "folder"} <= keys
    )


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return which instances each submission resolved, with cost and calls where they are known."""
    if path.is_dir():
        rows = [
            row
            for file in files_below(path, DETAILS)
            for row in _of_details(file.parent.name, record(read_json(file, options.limits)))
        ]
        rows += _of_submissions(files_below(path, RESULTS), options)
    else:
        rows = _of_file(path, record(read_json(path, options.limits)), options)
    if not rows:
        raise no_scores(path, "results of SWE-bench: instances that were resolved or not")
    names = {name for row in rows for name in row.scores}
    measures = [
        ScoreMeasure(name, low=0.0, lower_is_better=True) for name in COSTS if name in names
    ]
    return ScoreFile(rows, {"system": "submission", "query": "instance_id"}, measures)


def _of_file(path: Path, value: Record, options: ScoreOptions) -> list[ScoreRow]:
    if "leaderboards" in value:
        return [
            row
            for board in records(value["leaderboards"])
            for entry in records(board.get("results"))
            for row in _of_details(
                text(entry.get("name")), record(entry.get("per_instance_details"))
            )
        ]
    if "resolved_ids" in value:
        return _of_report(path, value)
    if isinstance(value.get(RESOLVED), list):
        folder = path.absolute().parent.parent
        beside = sorted(folder.parent.glob(f"*/{RESULTS}"))
        if len(beside) < 2:
            message = (
                "names the resolved instances, and not those that were tried; expected the "
                "folder of a split with several submissions, such as evaluation/verified"
            )
            raise FormatError([Problem(str(path), 0, message)])
        return [row for row in _of_submissions(beside, options) if row.system == folder.name]
    first = record(next(iter(value.values()), None))
    if RESOLVED in first:
        name = path.absolute().parent.name if path.name == DETAILS else path.name.partition(".")[0]
        return _of_details(name, value)
    return [row for name, details in value.items() for row in _of_details(name, record(details))]


def _of_details(system: str, details: Record) -> list[ScoreRow]:
    """Return the rows of ``{instance: {resolved, cost, api_calls}}``."""
    rows = []
    for instance, value in details.items():
        fields = record(value)
        scores = {name: number(fields[name]) for name in (RESOLVED, *COSTS) if name in fields}
        rows.append(_row(instance, system, scores))
    return rows


def _of_report(path: Path, report: Record) -> list[ScoreRow]:
    """Return the rows of a report of the harness, ``<model>.<run>.json``."""
    system = path.name.removesuffix(".json")
    resolved = set(map(text, items(report.get("resolved_ids"))))
    unresolved = set(map(text, items(report.get("unresolved_ids"))))
    failed = {text(each) for name in FAILURES for each in items(report.get(name))}
    verdicts: Mapping[str, float] = {
        **dict.fromkeys(sorted(unresolved), 0.0),
        **dict.fromkeys(sorted(resolved), 1.0),
    }
    rows = [_row(instance, system, {RESOLVED: score}) for instance, score in verdicts.items()]
    rows += [_row(each, system, {}, failed=True) for each in sorted(failed - set(verdicts))]
    return rows


def _of_submissions(paths: Iterable[Path], options: ScoreOptions) -> list[ScoreRow]:
    """Return the rows of the submissions of one split: 0 where one of them does not name it."""
    lists = {path.parent.parent.name: record(read_json(path, options.limits)) for path in paths}
    resolved = {name: set(map(text, items(value.get(RESOLVED)))) for name, value in lists.items()}
    tried = {
        text(each) for value in lists.values() for part in value.values() for each in items(part)
    }
    return [
        _row(instance, name, {RESOLVED: float(instance in known)})
        for name, known in resolved.items()
        for instance in sorted(filter(None, tried))
    ]


def _row(
    instance: str, system: str, scores: Mapping[str, float | None], *, failed: bool = False
) -> ScoreRow:
    repository = instance.rpartition("-")[0].replace("__", "/")
    tags = {"repository": repository} if repository else {}
    return ScoreRow(instance, system, scores, tags=tags, failed=failed)


READER = ScoreReader(
    "swe-bench",
    "results of SWE-bench (details of instances, reports, folders of submissions): resolved, cost",
    detect,
    read,
)
