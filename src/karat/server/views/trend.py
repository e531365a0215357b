"""Runs over one dataset in the course of time, as they were scored when they ended."""

from karat.server.schemas.results import Trend, TrendPoint
from karat.server.views.runs import flat_metrics, intervals_of
from karat.store import RunStatus
from karat.store.service import ServiceStore

__all__ = ["trend"]

MOST_BENCHMARKS = 100


def trend(store: ServiceStore, dataset: str, *, owner: str | None) -> Trend:
    """Return the completed runs of the newest benchmarks on *dataset*, the oldest first."""
    found = store.benchmarks.page(owner=owner, dataset=dataset, limit=MOST_BENCHMARKS).items
    remarks = store.benchmarks.annotations(*(benchmark.id for benchmark in found))
    points = []
    for benchmark in reversed(found):
        if benchmark.experiment is None:
            continue
        for run in store.results.show(benchmark.experiment).runs:
            if run.status is not RunStatus.COMPLETED:
                continue
            scores = store.results.scores(run.id)
            points.append(
                TrendPoint(
                    benchmark_id=benchmark.id,
                    benchmark_name=benchmark.name,
                    run_id=run.id,
                    run_name=run.label,
                    created_at=run.ended or benchmark.created,
                    values=flat_metrics(scores),
                    intervals=intervals_of(scores),
                    annotations=[each.text for each in remarks if each.benchmark == benchmark.id],
                )
            )
    return Trend(dataset_id=dataset, points=points)
