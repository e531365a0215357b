"""Experiments, runs and scores as rows of their tables, and back."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import isnan, nan
from typing import Any

from sqlalchemy import Row

from karat.formats.gold import as_gold, gold_digest
from karat.model import Dataset
from karat.model.comparison import Interval
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import Sample, Timings
from karat.store.answers import storable
from karat.store.records import Experiment, Kind, Plan, RunStatus, StoredRun

__all__ = [
    "INDEX_COSTS",
    "dataset_row",
    "experiment_of",
    "experiment_row",
    "run_of",
    "run_rows",
    "score_rows",
    "summary_of",
    "timings_of",
]

# The fields of Timings that belong to the run and not to a query.
INDEX_COSTS = ("index_ns", "index_bytes", "peak_bytes", "warm_up", "repetitions", "alone")


def dataset_row(dataset: Dataset) -> dict[str, object]:
    """Return the row of a gold set."""
    return {
        "digest": gold_digest(dataset),
        "name": storable(dataset.name),
        "queries": len(dataset),
        "gold": as_gold(dataset),
    }


def experiment_row(
    plan: Plan, *, environment: Mapping[str, object], created: datetime
) -> dict[str, object]:
    """Return the row of a new experiment."""
    return {
        "id": plan.id,
        "digest": plan.digest,
        "name": storable(plan.name),
        "kind": plan.kind.value,
        "dataset": gold_digest(plan.dataset),
        "config": dict(plan.config),
        "seed": plan.seed,
        "version": plan.version,
        "environment": dict(environment),
        "created": created,
    }


def run_rows(plan: Plan) -> list[dict[str, object]]:
    """Return the rows of the runs of a new experiment, all of them pending."""
    return [
        {
            "id": f"{plan.id}.{position}",
            "experiment": plan.id,
            "position": position,
            "label": storable(run.label),
            "engine": {
                "kind": run.engine.kind,
                "name": run.engine.name,
                "params": dict(run.engine.params),
            },
            "engine_digest": run.engine.digest,
            "snapshot": run.snapshot,
            "metadata": dict(run.metadata),
            "status": RunStatus.PENDING.value,
            "error": "",
        }
        for position, run in enumerate(plan.runs, 1)
    ]


def experiment_of(row: Row[Any], runs: Iterable[StoredRun]) -> Experiment:
    """Return the experiment in *row*, which also has the number of its queries."""
    return Experiment(
        row.id,
        row.name,
        Kind(row.kind),
        row.dataset,
        row.queries,
        row.config,
        row.seed,
        row.version,
        row.environment,
        row.created,
        tuple(runs),
    )


def run_of(row: Row[Any]) -> StoredRun:
    """Return the run in *row*, which also has the number of its answers."""
    return StoredRun(
        row.id,
        row.label,
        Spec(row.engine["kind"], row.engine["name"], row.engine["params"]),
        row.snapshot,
        row.metadata,
        RunStatus(row.status),
        row.error,
        row.answers,
        row.begun,
        row.ended,
        row.index_ns,
        row.scored,
    )


def timings_of(row: Row[Any], samples: Iterable[Sample | None]) -> Timings | None:
    """Return the timings of the run in *row*, None where it was finished without any."""
    if row.index_ns is None:
        return None
    costs = {name: getattr(row, name) for name in INDEX_COSTS}
    return Timings(tuple(sample for sample in samples if sample is not None), **costs)


def score_rows(run: str, summaries: Iterable[Summary]) -> list[dict[str, object]]:
    """Return the rows of *summaries*; what has no value is NULL."""
    return [
        {
            "run": run,
            "position": position,
            "measure": summary.measure,
            "mean": None if isnan(summary.mean) else summary.mean,
            "answered": None if isnan(summary.answered) else summary.answered,
            "n": summary.n,
            "low": summary.interval and summary.interval.low,
            "high": summary.interval and summary.interval.high,
            "level": summary.interval and summary.interval.level,
            "method": summary.interval and summary.interval.method,
        }
        for position, summary in enumerate(summaries, 1)
    ]


def summary_of(row: Row[Any]) -> Summary:
    """Return the scores in *row*."""
    interval = None
    if row.method is not None:
        interval = Interval(row.low, row.high, row.level, row.method)
    mean = nan if row.mean is None else row.mean
    answered = nan if row.answered is None else row.answered
    return Summary(row.measure, mean, answered, row.n, interval)
