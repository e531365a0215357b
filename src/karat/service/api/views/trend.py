"""Runs over one dataset in the course of time, as they were scored when they ended."""

from karat.report.page.results import flat_metrics, intervals_of
from karat.service.api.schemas.results import Trend, TrendPoint
from karat.service.store import ServiceStore

__all__ = ["trend"]

MOST_BENCHMARKS = 100


def trend(store: ServiceStore, dataset: str, *, owner: str | None) -> Trend:
    """Return the completed runs of the newest benchmarks on *dataset*, the oldest first."""
    found = store.benchmarks.page(owner=owner, dataset=dataset, limit=MOST_BENCHMARKS).items
    remarks = store.benchmarks.annotations(*(benchmark.id for benchmark in found))
    benchmark_of = {benchmark.experiment: benchmark for benchmark in found if benchmark.experiment}
    points = []
    for run in store.results.completed(*benchmark_of):
        benchmark = benchmark_of[run.id.partition(".")[0]]
        points.append(
            TrendPoint(
                benchmark_id=benchmark.id,
                benchmark_name=benchmark.name,
                run_id=run.id,
                run_name=run.label,
                created_at=run.ended or benchmark.created,
                commit=benchmark.revision,
                values=flat_metrics(run.scores),
                intervals=intervals_of(run.scores),
                annotations=[each.text for each in remarks if each.benchmark == benchmark.id],
            )
        )
    # Runs of one benchmark end at their own times, and stay together all the same.
    order = [benchmark.id for benchmark in reversed(found)]
    return Trend(
        dataset_id=dataset,
        points=sorted(points, key=lambda point: order.index(str(point.benchmark_id))),
    )
