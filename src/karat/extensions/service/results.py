"""The results of a benchmark, scored by the judgments as they are now; nothing is run again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from karat.app.human_sample import judging_order
from karat.app.report import origin, report, with_timings
from karat.app.score import LabelRule, use_labels
from karat.errors import Conflict
from karat.experiments.run import RunResults
from karat.experiments.store import Experiment, StoredRun
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.collections import UPLOAD
from karat.extensions.service.judging_pool import JudgingPool, edited, without_unresolved
from karat.extensions.service.store import Benchmark, Collection, ServiceStore, StoredJudgment
from karat.extensions.service.store.datasets import LossRecord
from karat.formats.karat_run import run_digest
from karat.installation import __version__
from karat.model import Dataset, Target
from karat.model.evaluation import Evaluation, Summary
from karat.model.judgments import label_use
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.loss_reasons import loss_reason_of
from karat.scoring.loss_reasons import UNEXPLAINED, LossReason
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Scoring
from karat.scoring.whole_files import has_parts

# Raised when the document of results changes its shape, so that stored ones are computed again.
SHAPE = 6
# Number of hits per query in a report.
HITS_KEPT = 100


@dataclass(frozen=True, slots=True, eq=False)
class ScoredBenchmark:
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

    def summaries(self, index: int) -> list[Summary]:
        """Return the scores of the run at *index*, with their intervals."""
        return self.findings.summaries(index)


def results_key(store: ServiceStore, benchmark: Benchmark) -> str:
    """Return a key that changes whenever the results of *benchmark* may have changed."""
    state = store.benchmarks.version(benchmark.id)
    content = [benchmark.id, benchmark.status, __version__, SHAPE, state]
    return sha256(json.dumps(content).encode()).hexdigest()


def scored(
    store: ServiceStore, benchmark: Benchmark, *, known: RunResults | None = None
) -> ScoredBenchmark:
    """Return the completed runs of *benchmark* scored; Conflict where no run is completed.

    A run whose latency is not measured yet is completed too. Loss reasons are there as far as
    :mod:`karat.extensions.service.jobs.loss_reasons` has stored them. *known* are the results of
    the experiment that has just run: its runs are neither read again nor, unless judgments have
    changed, scored again.
    """
    # Before anything else is read: a judgment that comes meanwhile makes another version.
    key = results_key(store, benchmark)
    experiment = store.results.show(benchmark.experiment) if benchmark.experiment else None
    completed = [run for run in (experiment.runs if experiment else ()) if run.scored]
    if experiment is None or not completed:
        raise Conflict(f"benchmark {benchmark.id} has no completed run yet")
    config = BenchmarkConfig.from_json(benchmark.config)
    judgments = store.judgments.all(benchmark.dataset)
    gold = _judged(store, benchmark, store.results.dataset(experiment.dataset), judgments)
    collection = store.collections.get(benchmark.collection)
    read = known.read if known else store.results.measured
    measured = tuple(_named(read(run.id), collection) for run in completed)
    scoring = Scoring(measures=config.measures())
    # Where targets are parts of files, one run may decide how all are judged.
    reused = known and not judgments and not has_parts(gold, scoring)
    evaluations = [known.evaluation(run.id) for run in completed] if known and reused else ()
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
    findings = report(
        gold,
        measured,
        origin=made_from,
        scoring=scoring,
        hits_kept=HITS_KEPT,
        evaluations=evaluations,
    )
    return ScoredBenchmark(
        benchmark=benchmark,
        config=config,
        experiment=experiment,
        runs=tuple(completed),
        findings=with_stored_losses(findings, [store.losses.of(run.id) for run in completed]),
        resolved=resolved,
        version=judgments[-1].version if judgments else 1,
        key=key,
    )


def refreshed(
    store: ServiceStore, earlier: ScoredBenchmark, *, known: RunResults, status: str = ""
) -> ScoredBenchmark | None:
    """Return *earlier* with the latencies in *known* and the loss reasons that were stored since.

    No statistics of scores are computed again. *status* is that of the benchmark if it is about to
    change. Returns None where the scores have become wrong, because judgments have changed or other
    runs are completed.
    """
    benchmark = store.benchmarks.get(earlier.benchmark.id)
    benchmark = replace(benchmark, status=status or benchmark.status)
    key = results_key(store, benchmark)
    experiment = store.results.show(earlier.experiment.id)
    completed = tuple(run for run in experiment.runs if run.scored)
    version = store.datasets.get(benchmark.dataset).version
    if version != earlier.version or [run.id for run in completed] != [
        run.id for run in earlier.runs
    ]:
        return None
    collection = store.collections.get(benchmark.collection)
    measured = tuple(_named(known.read(run.id), collection) for run in completed)
    findings = with_timings(earlier.findings, measured)
    return replace(
        earlier,
        benchmark=benchmark,
        experiment=experiment,
        runs=completed,
        findings=with_stored_losses(findings, [store.losses.of(run.id) for run in completed]),
        key=key,
    )


def _judged(
    store: ServiceStore,
    benchmark: Benchmark,
    stored: Dataset,
    judgments: Sequence[StoredJudgment],
) -> Dataset:
    """Return the dataset of an experiment with *judgments*.

    If it uses labels of models, they are chosen again: a person overrules them, and the agreement
    with people includes the newest judgments.
    """
    original = _without_labels(store, benchmark, stored)
    if original is stored:
        return edited(stored, judgments)
    choice = BenchmarkConfig.from_json(benchmark.config).judge_labels
    return use_labels(edited(original, judgments), LabelRule(choice))


def _without_labels(store: ServiceStore, benchmark: Benchmark, stored: Dataset) -> Dataset:
    """Return the dataset of an experiment before labels of models were chosen.

    A mapping that was resolved again may have other queries: then it is *stored* as it is.
    """
    use = label_use(stored)
    resolved = store.mappings.get(benchmark.mapping).resolved
    if use is None or not use.is_used or resolved is None:
        return stored
    original = store.datasets.gold(resolved)
    return original if original.query_ids == stored.query_ids else stored


def _evaluations(
    gold: Dataset, measured: Sequence[RunResult], scoring: Scoring
) -> tuple[Evaluation, ...]:
    return tuple(
        evaluate_run(gold, each.run, scoring=scoring, confidence=None, slices={}, name=each.name)
        for each in measured
    )


def _named(measured: RunResult, collection: Collection) -> RunResult:
    """Return a run that names an upload by its collection; its path is not shown to clients."""
    if collection.source["kind"] != UPLOAD:
        return measured
    metadata = {**measured.run.metadata, "place": collection.name}
    return replace(measured, run=replace(measured.run, metadata=metadata))


def judging_pool(store: ServiceStore, benchmark: Benchmark, runs: Iterable[str]) -> JudgingPool:
    """Return the unjudged hits of *runs* of *benchmark*; Conflict without runs."""
    answered = {run: store.results.measured(run).run for run in runs}
    if not answered or benchmark.experiment is None:
        raise Conflict(f"benchmark {benchmark.id} has no completed run yet")
    stored = store.results.dataset(store.results.show(benchmark.experiment).dataset)
    # People may also judge what a model has labelled.
    gold = _without_labels(store, benchmark, stored)
    depth = BenchmarkConfig.from_json(benchmark.config).primary_k
    sample = [query.row for query in judging_order(gold, answered, depth=depth)]
    pool = JudgingPool(gold, answered, depth=depth, sample=sample)
    pool.add(store.judgments.all(benchmark.dataset))
    return pool


Location = tuple[str, int, int, str]


def losses_of(
    gold: Dataset, losses: Mapping[tuple[int, int, int], LossReason], runs: int
) -> list[list[LossRecord]]:
    """Return for each of *runs* its *losses*, which are by run, query and target."""
    records: list[list[LossRecord]] = [[] for _ in range(runs)]
    for (run, row, number), reason in losses.items():
        target = gold.targets(row)[number]
        records[run].append(LossRecord(gold.query_ids[row], *_location(target), reason))
    return records


def with_stored_losses(findings: Findings, stored: Sequence[Iterable[LossRecord]]) -> Findings:
    """Return *findings* with the stored loss reasons of each run.

    Judgments may have changed since: a target that has moved, or that a run has found by
    now, has no stored reason.
    """
    rows = {query_id: row for row, query_id in enumerate(findings.gold.query_ids)}
    losses: dict[tuple[int, int, int], LossReason] = {}
    for run, lost in enumerate(stored):
        known = {each[:-1]: each.reason for each in lost}
        for query_id in dict.fromkeys(query for query, *_ in known):
            row = rows[query_id]
            for number, target in enumerate(findings.gold.targets(row)):
                reason = known.get((query_id, *_location(target)))
                if reason is not None and loss_reason_of(findings, run, row, number) in UNEXPLAINED:
                    losses[run, row, number] = reason
    return replace(findings, losses=losses)


def _location(target: Target) -> Location:
    return target.path, target.start_line, target.end_line, target.symbol
