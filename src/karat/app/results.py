"""The results of a benchmark, scored by the judgments as they are now; nothing is run again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from karat.app.benchmarks import BenchmarkConfig
from karat.app.collections import UPLOAD
from karat.app.judgments import edited, without_unresolved
from karat.app.kept_losses import with_kept_losses
from karat.app.report import origin, report
from karat.app.score import evaluate_run
from karat.app.settings import Confidence, Scoring
from karat.errors import Conflict, UnknownName
from karat.formats.karat_run import run_digest
from karat.installation import __version__
from karat.model import Dataset
from karat.model.evaluation import Evaluation, Summary
from karat.model.timings import Measured
from karat.report.findings import Findings
from karat.store import Experiment, StoredRun
from karat.store.service import Benchmark, Collection, ServiceStore

__all__ = ["Scored", "results_key", "scored", "with_latencies"]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The *runs* of a benchmark that have all their answers, in the order of *findings*.

    *findings* counts references that mean no document as missed; *resolved* scores the runs
    without them, and is None where there are none. *version* is that of the judgments, *key* that
    of everything the results depend on, read before any of it.
    """

    benchmark: Benchmark
    config: BenchmarkConfig
    experiment: Experiment
    runs: tuple[StoredRun, ...]
    findings: Findings
    resolved: tuple[Evaluation, ...] | None
    version: int
    key: str

    def place(self, run: str) -> int:
        """Return where *run* is among the completed ones.

        Conflict where it is none of them, UnknownName where the benchmark has no such run.
        """
        for place, each in enumerate(self.runs):
            if each.id == run:
                return place
        if all(each.id != run for each in self.experiment.runs):
            raise UnknownName(f"benchmark {self.benchmark.id} has no run {run}")
        raise Conflict(f"run {run} is not completed, and has no results")

    def summaries(self, place: int) -> list[Summary]:
        """Return the scores of the run at *place*, with their intervals."""
        comparison = self.findings.contest.comparison
        name = self.findings.names[place]
        return [
            replace(summary, interval=comparison.mean(name, summary.measure).interval)
            if summary.measure in comparison.metrics
            else summary
            for summary in self.findings.contest.evaluations[place].summaries
        ]


def results_key(store: ServiceStore, benchmark: Benchmark) -> str:
    """Return what changes whenever the results of *benchmark* may have changed."""
    state = store.benchmarks.version(benchmark.id)
    content = [benchmark.id, benchmark.status, __version__, state]
    return sha256(json.dumps(content).encode()).hexdigest()


def scored(
    store: ServiceStore, benchmark: Benchmark, *, confidence: Confidence | None = None
) -> Scored:
    """Return the completed runs of *benchmark* scored; Conflict where there is none.

    A run whose latency is not measured yet is completed too. Why targets were lost is told as far
    as :func:`karat.app.explain.explain` has found out.
    """
    # Before anything else is read: a judgment that comes meanwhile makes another version.
    key = results_key(store, benchmark)
    experiment = store.results.show(benchmark.experiment) if benchmark.experiment else None
    completed = [run for run in (experiment.runs if experiment else ()) if run.scored]
    if experiment is None or not completed:
        raise Conflict(f"benchmark {benchmark.id} has no completed run yet")
    config = BenchmarkConfig.from_json(benchmark.config)
    judgments = store.judgments.all(benchmark.dataset)
    gold = edited(store.results.dataset(experiment.dataset), judgments)
    collection = store.collections.get(benchmark.collection)
    measured = tuple(_named(store.results.measured(run.id), collection) for run in completed)
    scoring = Scoring(measures=config.measures())
    made_from = origin(
        gold,
        [run_digest(each.run) for each in measured],
        made_at=experiment.created.isoformat(timespec="seconds"),
        version=experiment.version,
    )
    unresolved = store.mappings.get(benchmark.mapping).unresolved
    resolved = None
    if unresolved:
        resolved = _evaluations(without_unresolved(gold, unresolved), measured, scoring)
    findings = report(gold, measured, origin=made_from, scoring=scoring, confidence=confidence)
    return Scored(
        benchmark=benchmark,
        config=config,
        experiment=experiment,
        runs=tuple(completed),
        findings=with_kept_losses(findings, [store.losses.of(run.id) for run in completed]),
        resolved=resolved,
        version=judgments[-1].version if judgments else 1,
        key=key,
    )


def with_latencies(store: ServiceStore, found: Scored) -> Scored | None:
    """Return *found* with what was measured since; None where its scores are no longer right.

    They are not where judgments have changed, or where other runs are completed.
    """
    benchmark = store.benchmarks.get(found.benchmark.id)
    key = results_key(store, benchmark)
    experiment = store.results.show(found.experiment.id)
    runs = tuple(run for run in experiment.runs if run.scored)
    version = store.datasets.get(benchmark.dataset).version
    if version != found.version or [run.id for run in runs] != [run.id for run in found.runs]:
        return None
    collection = store.collections.get(benchmark.collection)
    measured = tuple(_named(store.results.measured(run.id), collection) for run in runs)
    return replace(
        found,
        benchmark=benchmark,
        experiment=experiment,
        runs=runs,
        findings=replace(found.findings, runs=measured),
        key=key,
    )


def _evaluations(
    gold: Dataset, measured: Sequence[Measured], scoring: Scoring
) -> tuple[Evaluation, ...]:
    return tuple(
        evaluate_run(gold, each.run, scoring=scoring, confidence=None, slices={}, name=each.name)
        for each in measured
    )


def _named(measured: Measured, collection: Collection) -> Measured:
    """Return a run that calls uploaded documents by their name: where they lie is told nobody."""
    if collection.source["kind"] != UPLOAD:
        return measured
    metadata = {**measured.run.metadata, "place": collection.name}
    return replace(measured, run=replace(measured.run, metadata=metadata))
