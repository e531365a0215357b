"""Results as JSON, without NaN and infinity, and with all inputs of each number."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from math import isfinite

from karat.model.change import RunChange
from karat.model.comparison import Difference
from karat.model.coverage import CorpusCoverage
from karat.model.evaluation import Evaluation, Summary
from karat.model.gate import Gate
from karat.model.timings import RunResult
from karat.report.findings.contenders import Advice
from karat.report.findings.latency import mean_spent
from karat.report.rows import Result, query_rows
from karat.report.section import ReportSection, section_document

SCHEMA = 1


def result_json(
    result: Result, settings: Mapping[str, object], *, sections: Sequence[ReportSection] = ()
) -> str:
    """Return one scored run with its queries, or several with their comparison and the verdict.

    *sections* say more about scores of a file.
    """
    more = {"sections": [section_document(each) for each in sections]} if sections else {}
    return _dump({**result_plain(result, settings), **more})


def result_plain(result: Result, settings: Mapping[str, object]) -> dict[str, object]:
    """Return what `result_json` writes, as plain values."""
    document = {"schema": SCHEMA, "settings": settings, "warnings": result.warnings}
    return {key: plain(value) for key, value in {**document, **_scored(result)}.items()}


def searched_json(
    overall: Result,
    resolved: Result | None,
    settings: Mapping[str, object],
    *,
    searched: CorpusCoverage,
    runs: Sequence[RunResult],
    warnings: Sequence[str],
    best_engine: str = "",
    advice: Sequence[Advice] = (),
    recommended_engine: str = "",
    changes: Sequence[RunChange] = (),
) -> str:
    """Return one run or several with the trees that were searched, and what the *runs* cost.

    *resolved* holds the same without the targets that are not there, where there are such.
    *best_engine* and *recommended_engine* have the options that give the engine of the run with the
    best mean, and of the recommended one; *advice* recommends runs; *changes* are those since
    earlier runs of the same engines.
    """
    return _dump(
        {
            "schema": SCHEMA,
            "settings": settings,
            "searched": searched,
            "warnings": (*overall.warnings, *warnings),
            "work": {run.name: run.notes.get("work") for run in runs},
            "dropped": {run.name: run.notes.get("invalid") for run in runs},
            "spent": {run.name: mean_spent(run) for run in runs},
            "timings": {run.name: run.timings for run in runs},
            **_scored(overall),
            "best_engine": best_engine or None,
            "recommendations": [each._asdict() for each in advice],
            "recommended_engine": recommended_engine or None,
            "resolved": None if resolved is None else _scored(resolved),
            "changes": changes,
        }
    )


def gate_json(gate: Gate, settings: Mapping[str, object]) -> str:
    """Return what a gate found, with its decision and whether it is closed."""
    named = {field.name: getattr(gate, field.name) for field in fields(gate)}
    moved = {side: [query._asdict() for query in named[side]] for side in ("worst", "best")}
    outcome = {"decision": gate.decision, "closed": gate.closed}
    warned = {"warnings": gate.warnings}
    return _dump({"schema": SCHEMA, "settings": settings, **outcome, **warned, **named, **moved})


def plain(value: object) -> object:
    """Return *value* as JSON knows it; numbers that JSON lacks become null.

    >>> plain({"a": (float("nan"), 1.5)})
    {'a': [None, 1.5]}
    """
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if is_dataclass(value):
        named = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Difference):
            named["significant"] = value.is_significant
        elif isinstance(value, RunChange):
            named["unchanged"] = value.unchanged
        return named
    if isinstance(value, Mapping):
        return {_key(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _key(key: object) -> str:
    return key.name.lower() if isinstance(key, Enum) else str(key)


def _scored(result: Result) -> dict[str, object]:
    if isinstance(result, Evaluation):
        return {"run": _run(result)}
    return {
        "runs": [_run(evaluation) for evaluation in result.evaluations],
        "comparison": result.comparison,
        "slices": result.slices,
        "clusters": result.clusters,
        "further_tests": result.further_tests,
        "notes": result.notes,
        "verdict": result.verdict,
    }


def _run(evaluation: Evaluation) -> dict[str, object]:
    evaluation = evaluation.reportable()
    measures = tuple(evaluation.table.columns)
    queries = [
        {
            "query_id": row.query,
            "status": row.status,
            "scores": dict(zip(measures, row.scores, strict=True)),
        }
        for row in query_rows(evaluation)
    ]
    return {
        "name": evaluation.name,
        "status": "broken" if evaluation.broken else "scored",
        "reason": evaluation.reason or None,
        "metrics": {
            summary.measure: {**_named(summary), "label": evaluation.label(summary.measure)}
            for summary in evaluation.summaries
        },
        "notes": evaluation.notes,
        "slices": evaluation.slices,
        "queries": queries,
    }


def _named(summary: Summary) -> dict[str, object]:
    values = {field.name: getattr(summary, field.name) for field in fields(summary)}
    if summary.labels is None:
        del values["labels"]  # only prediction-powered means have them
    return values


def _dump(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
