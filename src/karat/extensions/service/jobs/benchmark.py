"""The job of a benchmark: run or continue its experiment, and report progress."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from karat.app.evaluate import open_executor
from karat.app.report import report_measures
from karat.errors import InputError
from karat.experiments.run import RunResults, run_experiment
from karat.experiments.store import Experiment, RunStatus, SqlStore, StoredRun
from karat.experiments.workers import RunEvent
from karat.extensions.service.benchmarks import BenchmarkConfig, benchmark_request
from karat.extensions.service.jobs.job import JobContext
from karat.extensions.service.jobs.loss_reasons import store_losses
from karat.extensions.service.logs import span
from karat.extensions.service.progress import BENCHMARK_EVENT, standing
from karat.extensions.service.results import ScoredBenchmark, refreshed, scored
from karat.extensions.service.schemas.results import (
    CompletedRun,
    CurrentRun,
    Metrics,
    RunningProcess,
)
from karat.extensions.service.store import Benchmark, Collection, JobStatus
from karat.extensions.service.views import config_of, store_results, timing_of, timing_status
from karat.model.evaluation import Summary
from karat.model.timings import Timings
from karat.report.page.results import flat_metrics, metrics_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span

logger = logging.getLogger("karat.jobs")

QUIET_S = 0.5
# Other karat runs must end first, so that latency is not distorted.
WAITING, TIMING = "waiting", "timing"
STAGES = {"waiting": WAITING, "disturbed": TIMING, "started": "indexing", "indexing": "indexing"}


class BenchmarkReporter:
    """Turns events of queries and runs into progress events of a benchmark.

    A run that is scored or ends, and a benchmark that starts or stops waiting or begins to measure
    latency, are reported at once; everything else at most twice a second. The stage is that of the
    benchmark; the stage of a run is in ``current_run`` and ``last_completed_run``.
    """

    def __init__(self, work: JobContext, *, clock: Callable[[], float] = monotonic) -> None:
        """Report on the benchmark that is the subject of *work*."""
        self._work = work
        self._clock = clock
        self._reported = -QUIET_S
        self._stage = ""
        self._runs: dict[str, StoredRun] = {}
        self._timed: set[str] = set()
        self._current: CurrentRun | None = None
        self._last: CompletedRun | None = None

    def begin(self, experiment: Experiment) -> None:
        """Start to report on the runs of *experiment*."""
        self._runs = {run.label: run for run in experiment.runs}
        self.report("indexing")

    def on_event(self, event: RunEvent) -> None:
        """Handle an event of a query or a run."""
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
        if turned or self._clock() - self._reported >= QUIET_S:
            self.report(stage)

    def ended(self, run_id: str) -> None:
        """Report that a run was scored or has ended, with its scores."""
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
        self.report(self._stage)

    def explaining(self) -> None:
        """Report that all runs have ended and that loss reasons are being computed."""
        self._current = None
        self.report("explaining")

    def report(self, stage: str) -> None:
        """Report the progress of the benchmark."""
        benchmark = self._work.store.benchmarks.get(self._work.job.subject)
        self._work.add_event(
            BENCHMARK_EVENT, standing(benchmark, stage, current=self._current, last=self._last)
        )
        self._reported, self._stage = self._clock(), stage


def _holders(event: RunEvent) -> Iterator[RunningProcess]:
    """Yield the processes that *event* waits for, as far as it names them."""
    holders = event.detail.get("holders")
    for each in holders if isinstance(holders, list | tuple) else ():
        # Other processes have written this down, perhaps of another version of Karat.
        with suppress(ValidationError, KeyError, TypeError):
            yield RunningProcess(**{name: each[name] for name in RunningProcess.model_fields})


def _order(run: StoredRun) -> int:
    return int(run.id.rpartition(".")[2])


NS_PER_MS = 1_000_000
# Outcomes of a run or a query that are not errors.
FINE = frozenset({"answered", "completed", "cancelled"})


class RunSpans(AbstractContextManager["RunSpans"]):
    """Begins a span with each pass over a run, and puts one into it for each query that ends.

    *engines* are the names of the engines by run. No span holds a text: neither a query nor a hit.
    """

    def __init__(self, engines: Mapping[str, str]) -> None:
        """Start without an open span."""
        from opentelemetry import trace

        self._engines = engines
        self._tracer = trace.get_tracer("karat")
        self._open: dict[str, Span] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for left in self._open.values():
            left.end()
        self._open.clear()

    def on_event(self, event: RunEvent) -> None:
        """Handle an event of a query or a run."""
        if event.kind == "started":
            self._open[event.run] = self._tracer.start_span(
                "run", attributes=self._about(event, **event.detail)
            )
        elif event.kind == "answered" and event.run in self._open:
            self._answered(event)
        elif event.kind == "finished" and event.run in self._open:
            _end(self._open.pop(event.run), str(event.detail["status"]), time_ns())

    def _answered(self, event: RunEvent) -> None:
        from opentelemetry.trace import set_span_in_context

        latency_ns, ended = event.detail["latency_ns"], time_ns()
        about = {"query_id": event.detail["query_id"]}
        spent = 0
        if isinstance(latency_ns, int) and latency_ns >= 0:
            spent = latency_ns
            about["latency_ms"] = latency_ns / NS_PER_MS
        query = self._tracer.start_span(
            "query",
            context=set_span_in_context(self._open[event.run]),
            attributes=self._about(event, **about),
            start_time=ended - spent,
        )
        _end(query, str(event.detail["outcome"]), ended)

    def _about(self, event: RunEvent, **more: object) -> dict[str, str | float]:
        named = {"run": event.run, "engine": self._engines[event.run], **more}
        return {
            f"karat.{key}": value if isinstance(value, float) else str(value)
            for key, value in named.items()
        }


def _end(span: "Span", status: str, when: int) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("karat.status", status)
    if status not in FINE:
        span.set_status(Status(StatusCode.ERROR))
    span.end(when)


class BenchmarkJob:
    """Runs the missing part of a benchmark."""

    def run(self, work: JobContext) -> None:
        """Run the experiment; its id is stored with the benchmark before the first query."""
        store = work.store
        benchmark = store.benchmarks.get(work.job.subject)
        mapping = store.mappings.get(benchmark.mapping)
        if mapping.resolved is None:
            raise InputError("Mapping must be resolved")
        collection = store.collections.get(benchmark.collection)
        progress = BenchmarkReporter(work)

        def attach(experiment: Experiment) -> None:
            revision = _revision(collection, experiment)
            store.benchmarks.attach(benchmark.id, experiment.id, revision=revision)
            # The worker that had the job before is gone, even if its machine cannot be reached.
            store.results.release(experiment.id)
            progress.begin(experiment)

        request = benchmark_request(
            BenchmarkConfig.from_json(benchmark.config),
            store.datasets.gold(mapping.resolved),
            # With its id, because two of one name and one matrix are two experiments.
            name=f"{benchmark.name} ({benchmark.id})",
            collection=collection,
            folders=work.settings.folders,
            offered=work.settings.engines,
            choices=work.settings.choices,
        )
        compared: ScoredBenchmark | None = None

        def compare(results: RunResults) -> None:
            nonlocal compared
            if not work.stopped() and store.benchmarks.get(benchmark.id).completed_runs:
                progress.report("comparing")
                current = store.benchmarks.get(benchmark.id)
                compared = scored(store, current, known=results)
                store_results(store, compared)

        with RunSpans(
            {
                configuration.name: configuration.spec.name
                for configuration in request.configurations
            }
        ) as spans:

            def listen(event: RunEvent) -> None:
                spans.on_event(event)
                progress.on_event(event)

            done = run_experiment(
                request,
                _JobStore(work, on_change=progress.ended),
                listen=listen,
                cancelled=work.stopped,
                on_stored=attach,
                before_timing=compare,
                further=report_measures(request.gold, request.scoring),
                executor=open_executor(work.settings.executor, workers=request.workers),
            )
        if work.stopped() or not store.benchmarks.get(benchmark.id).completed_runs:
            return
        final = compared and refreshed(store, compared, known=done.results)
        final = final or scored(store, store.benchmarks.get(benchmark.id), known=done.results)
        store_results(store, final)
        progress.explaining()
        with span("explain", benchmark=benchmark.id):
            store_losses(work.settings.store, final, stopped=work.stopped)
        if not work.stopped():
            # The benchmark is completed as soon as this is stored. Where judgments have changed
            # meanwhile, results are computed by the next request for them.
            final = refreshed(store, final, known=done.results, status="completed")
            if final:
                for index, run in enumerate(final.runs):
                    store.results.keep_scores(run.id, final.summaries(index))
                store_results(store, final)

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Finish the benchmark, unless it was cancelled, and report it."""
        benchmark = work.store.benchmarks.get(work.job.subject)
        if status is JobStatus.COMPLETED:
            outcome, error = _outcome(benchmark, work.store.results)
            work.store.benchmarks.finish(benchmark.id, outcome, error=error)
            if error:
                # The job itself has completed: its own line names no reason.
                about = {"benchmark": benchmark.id, "reason": error}
                logger.warning("no run of the benchmark was completed", extra=about)
        elif status is JobStatus.FAILED:
            work.store.benchmarks.finish(benchmark.id, "failed", error=error)
        if benchmark.experiment:
            work.store.results.release(benchmark.experiment)
        BenchmarkReporter(work).report(status.value)


class _JobStore(SqlStore):
    """The store of the service, with a callback for runs that are scored or have ended."""

    def __init__(self, work: JobContext, *, on_change: Callable[[str], None]) -> None:
        super().__init__(work.store.database, worker=work.job.worker, leases=work.store.leases)
        self._on_change = on_change
        self._readable = work.settings.without_locations

    def finish(
        self,
        run: str,
        status: RunStatus,
        *,
        error: str = "",
        timings: Timings | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """End the work on *run*, and report it."""
        error = self._readable(error)
        super().finish(run, status, error=error, timings=timings, notes=notes)
        self._on_change(run)

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Store the scores of *run*, and report them where they are *complete*."""
        super().keep_scores(run, summaries, complete=complete)
        if complete:
            self._on_change(run)


def _revision(collection: Collection, experiment: Experiment) -> Mapping[str, str] | None:
    """Return the commit that was searched; None where the documents have changed since indexing."""
    commit: Any = collection.facts.get("commit")
    same = all(run.snapshot == collection.snapshot for run in experiment.runs)
    return commit if same else None


def _outcome(benchmark: Benchmark, results: SqlStore) -> tuple[str, str]:
    """Return how a benchmark has ended: one that has a completed run is completed."""
    if benchmark.completed_runs or benchmark.experiment is None:
        return "completed", ""
    errors = [run.error for run in results.show(benchmark.experiment).runs if run.error]
    return "failed", next(iter(errors), "no run was completed")
