"""Results as JSON for machines: no NaN, no infinity, every number beside what made it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite

from karat.model.contest import Contest
from karat.model.evaluation import Evaluation

__all__ = ["contest_json", "evaluation_json", "plain"]

SCHEMA = 1


def evaluation_json(evaluation: Evaluation, settings: Mapping[str, object]) -> str:
    """Return one scored run, its queries included."""
    return _dump({"schema": SCHEMA, "settings": settings, "run": _run(evaluation)})


def contest_json(contest: Contest, settings: Mapping[str, object]) -> str:
    """Return several runs with their comparison, its slices and the verdict."""
    return _dump(
        {
            "schema": SCHEMA,
            "settings": settings,
            "runs": [_run(evaluation) for evaluation in contest.evaluations],
            "comparison": contest.comparison,
            "slices": contest.slices,
            "further_tests": contest.further_tests,
            "verdict": contest.verdict,
        }
    )


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
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value


def _key(key: object) -> str:
    return key.name.lower() if isinstance(key, Enum) else str(key)


def _run(evaluation: Evaluation) -> dict[str, object]:
    table = evaluation.table
    queries = [
        {
            "query_id": query_id,
            "status": table.statuses[row],
            "scores": {name: column[row] for name, column in table.columns.items()},
        }
        for row, query_id in enumerate(table.query_ids)
    ]
    return {
        "name": evaluation.name,
        "metrics": {summary.measure: summary for summary in evaluation.summaries},
        "notes": evaluation.notes,
        "slices": evaluation.slices,
        "queries": queries,
    }


def _dump(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
