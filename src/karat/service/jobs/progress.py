"""How far a benchmark is, told no more often than anybody can follow."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic

from pydantic import ValidationError

from karat.experiments.store import Experiment, RunStatus, StoredRun
from karat.experiments.workers import RunEvent
from karat.report.page.results import flat_metrics, metrics_of
from karat.service.api.schemas.events import (
    BenchmarkProgress,
    CompletedRun,
    CurrentRun,
    RunningProcess,
)
from karat.service.api.schemas.results import Metrics
from karat.service.api.views.runs import config_of, timing_of, timing_status
from karat.service.jobs.job import JobContext
from karat.service.store import Benchmark

__all__ = ["EVENT", "Progress", "standing"]

EVENT = "benchmark_progress"
QUIET_S = 0.5
# Other karat runs must end first, so that latency is not distorted.
WAITING, TIMING = "waiting", "timing"
STAGES = {"waiting": WAITING, "started": "indexing", "indexing": "indexing"}


class Progress:
    """Turns what the runner tells of queries into events of a benchmark.

    That a run is scored or ends, and that the benchmark waits, need not wait any longer or begins
    to measure latency, is told at once; everything else at most twice a second. The stage is that
    of the benchmark; the stage of a run is in ``current_run`` and ``last_completed_run``.
    """

    def __init__(self, work: JobContext, *, clock: Callable[[], float] = monotonic) -> None:
        """Tell of the benchmark that is the subject of *work*."""
        self._work = work
        self._clock = clock
        self._told = -QUIET_S
        self._stage = ""
        self._runs: dict[str, StoredRun] = {}
        self._timed: set[str] = set()
        self._current: CurrentRun | None = None
        self._last: CompletedRun | None = None

    def begin(self, experiment: Experiment) -> None:
        """Know the runs from now on."""
        self._runs = {run.label: run for run in experiment.runs}
        self.tell("indexing")

    def heard(self, event: RunEvent) -> None:
        """Take notice of what happened to a query or a run."""
        run = self._runs[event.run]
        # The hits come first, for all runs; then all are timed.
        if event.kind == "started" and event.detail.get("pass") == "timing":
            self._timed.add(event.run)
        elif event.kind == "answered":
            self._work.progressed()
        measuring = TIMING if event.run in self._timed else "evaluating"
        stage = STAGES.get(event.kind, measuring)
        self._current = CurrentRun(
            run_id=run.id,
            run_order=_order(run),
            config=config_of(run),
            config_summary=run.label,
            total_queries=event.total,
            completed_queries=event.done,
            stage=stage,
            waiting_for=list(_holders(event)) if stage == WAITING else [],
        )
        turned = stage != self._stage and {stage, self._stage} & {WAITING, TIMING}
        if turned or self._clock() - self._told >= QUIET_S:
            self.tell(stage)

    def ended(self, run_id: str) -> None:
        """Tell that a run was scored, or has ended, with its scores."""
        results = self._work.store.results
        experiment = results.show(run_id.partition(".")[0])
        run = next(each for each in experiment.runs if each.id == run_id)
        flat = flat_metrics(results.scores(run_id))
        benchmark = self._work.store.benchmarks.get(self._work.job.subject)
        self._last = CompletedRun(
            run_id=run.id,
            run_order=_order(run),
            config=config_of(run),
            config_summary=run.label,
            total_queries=experiment.queries,
            completed_queries=run.answers,
            stage=RunStatus.COMPLETED.value if run.scored else run.status.value,
            metrics=Metrics.model_validate(metrics_of(flat)) if flat else None,
            metrics_flat=flat or None,
            timing=timing_of(run),
            timing_status=timing_status(run, benchmark),
        )
        self.tell(self._stage)

    def explaining(self) -> None:
        """Tell that all runs have ended, and that it is found out what they have missed."""
        self._current = None
        self.tell("explaining")

    def tell(self, stage: str) -> None:
        """Tell where the benchmark stands."""
        benchmark = self._work.store.benchmarks.get(self._work.job.subject)
        self._work.tell(EVENT, standing(benchmark, stage, current=self._current, last=self._last))
        self._told, self._stage = self._clock(), stage


def standing(
    benchmark: Benchmark,
    stage: str,
    *,
    current: CurrentRun | None = None,
    last: CompletedRun | None = None,
) -> dict[str, object]:
    """Return where *benchmark* stands as the data of an event."""
    data = BenchmarkProgress(
        benchmark_id=benchmark.id,
        status=benchmark.status,
        total_runs=benchmark.total_runs,
        completed_runs=benchmark.completed_runs,
        failed_runs=benchmark.failed_runs,
        stage=stage,
        current_run=current,
        last_completed_run=last,
    )
    return data.model_dump(mode="json")


def _holders(event: RunEvent) -> Iterator[RunningProcess]:
    """Yield the processes that *event* waits for, as far as it names them."""
    holders = event.detail.get("holders")
    for each in holders if isinstance(holders, list | tuple) else ():
        # Other processes have written this down, perhaps of another version of Karat.
        with suppress(ValidationError, KeyError, TypeError):
            yield RunningProcess(**{name: each[name] for name in RunningProcess.model_fields})


def _order(run: StoredRun) -> int:
    return int(run.id.rpartition(".")[2])
