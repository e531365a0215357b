"""The job of a benchmark: its experiment is run, or continued, in the store of the service."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from time import time_ns
from typing import TYPE_CHECKING, Any, Self

from karat.app.report import report_measures
from karat.errors import InputError
from karat.experiments.run import RunResults, run_experiment
from karat.experiments.store import Experiment, RunStatus, SqlStore
from karat.experiments.workers import RunEvent
from karat.model.evaluation import Summary
from karat.model.timings import Timings
from karat.service.api.views.results import kept_results
from karat.service.benchmarks import BenchmarkConfig, benchmark_request
from karat.service.jobs.explainer import explained
from karat.service.jobs.job import JobContext
from karat.service.jobs.progress import Progress
from karat.service.observability.tracing import span
from karat.service.results import ScoredBenchmark, scored, with_latencies
from karat.service.store import Benchmark, Collection, JobStatus, ServiceStore

if TYPE_CHECKING:
    from opentelemetry.trace import Span


__all__ = ["BenchmarkJob", "RunSpans"]

NS_PER_MS = 1_000_000
# How a run or a query may end that is nobody's fault.
FINE = frozenset({"answered", "completed", "cancelled"})


class RunSpans(AbstractContextManager["RunSpans"]):
    """Begins a span with each pass over a run, and puts one into it for each query that ends.

    *engines* are the names of the engines by run. No span holds a text: neither a query nor a hit.
    """

    def __init__(self, engines: Mapping[str, str]) -> None:
        """Know the runs; no span is begun."""
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

    def heard(self, event: RunEvent) -> None:
        """Take notice of what happened to a query or a run."""
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
    """Runs what is missing of a benchmark."""

    def run(self, work: JobContext) -> None:
        """Run the experiment; its id is known to the benchmark before anything is asked."""
        store = work.store
        benchmark = store.benchmarks.get(work.job.subject)
        mapping = store.mappings.get(benchmark.mapping)
        if mapping.resolved is None:
            raise InputError("Mapping must be resolved")
        collection = store.collections.get(benchmark.collection)
        progress = Progress(work)

        def kept_as(experiment: Experiment) -> None:
            revision = _revision(collection, experiment)
            store.benchmarks.attach(benchmark.id, experiment.id, revision=revision)
            # Whoever had the job before is gone, also where nobody can ask its machine.
            store.results.release(experiment.id)
            progress.begin(experiment)

        request = benchmark_request(
            BenchmarkConfig.from_json(benchmark.config),
            store.datasets.gold(mapping.resolved),
            # With its id, because two of one name and one matrix are two experiments.
            name=f"{benchmark.name} ({benchmark.id})",
            collection=collection,
            places=work.settings.places,
            offered=work.settings.engines,
        )
        compared: list[ScoredBenchmark] = []

        def compare(results: RunResults) -> None:
            if not work.stopped() and store.benchmarks.get(benchmark.id).completed_runs:
                progress.tell("comparing")
                current = store.benchmarks.get(benchmark.id)
                compared.append(scored(store, current, known=results))
                kept_results(store, compared[0])

        with RunSpans(
            {
                configuration.name: configuration.spec.name
                for configuration in request.configurations
            }
        ) as spans:

            def listen(event: RunEvent) -> None:
                spans.heard(event)
                progress.heard(event)

            done = run_experiment(
                request,
                _TellingStore(work, told=progress.ended),
                listen=listen,
                cancelled=work.stopped,
                on_stored=kept_as,
                before_timing=compare,
                further=report_measures(request.gold, request.scoring),
            )
        if not work.stopped() and store.benchmarks.get(benchmark.id).completed_runs:
            for found in compared:
                if timed := with_latencies(store, found, done.results):
                    kept_results(store, timed)
            progress.explaining()
            with span("explain", benchmark=benchmark.id):
                explained(work.settings.store, benchmark.id, stopped=work.stopped)
            if not work.stopped():
                _keep_results(store, benchmark.id, done.results)

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Finish the benchmark, unless it was cancelled, and tell it."""
        benchmark = work.store.benchmarks.get(work.job.subject)
        if status is JobStatus.COMPLETED:
            found, error = _outcome(benchmark, work.store.results)
            work.store.benchmarks.finish(benchmark.id, found, error=error)
        elif status is JobStatus.FAILED:
            work.store.benchmarks.finish(benchmark.id, "failed", error=error)
        if benchmark.experiment:
            work.store.results.release(benchmark.experiment)
        Progress(work).tell(status.value)


class _TellingStore(SqlStore):
    """The store of the service, which tells when a run was scored and when it has ended."""

    def __init__(self, work: JobContext, *, told: Callable[[str], None]) -> None:
        super().__init__(work.store.database, worker=work.job.worker)
        self._told = told

    def finish(
        self,
        run: str,
        status: RunStatus,
        *,
        error: str = "",
        timings: Timings | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """End the work on *run*, and tell it."""
        super().finish(run, status, error=error, timings=timings, notes=notes)
        self._told(run)

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Store the scores of *run*, and tell them where they are *complete*."""
        super().keep_scores(run, summaries, complete=complete)
        if complete:
            self._told(run)


def _keep_results(store: ServiceStore, benchmark: str, results: RunResults) -> None:
    """Keep the scores with their intervals, and the results as they will be asked for."""
    # It is completed as soon as this is kept.
    ended = replace(store.benchmarks.get(benchmark), status="completed")
    found = scored(store, ended, known=results)
    for place, run in enumerate(found.runs):
        store.results.keep_scores(run.id, found.summaries(place))
    kept_results(store, found)


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
