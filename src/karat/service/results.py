"""The results of a benchmark, scored by the judgments as they are now; nothing is run again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice

from karat.app.judge import PooledHit, as_target, best_rank, candidates, is_judged
from karat.app.report import origin, report
from karat.errors import Conflict, UnknownName
from karat.experiments.run import RunResults
from karat.experiments.store import Experiment, StoredRun
from karat.formats.karat_run import run_digest
from karat.installation import __version__
from karat.model import Dataset, Hit, Run, Target
from karat.model.evaluation import Evaluation, Summary
from karat.model.timings import Measured
from karat.report.findings import Findings
from karat.scoring.matching.modes import MATCHERS
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Confidence, Scoring
from karat.service.benchmarks import BenchmarkConfig
from karat.service.collections import UPLOAD
from karat.service.losses import with_kept_losses
from karat.service.store import Benchmark, Collection, ServiceStore, StoredJudgment

__all__ = [
    "JudgingPool",
    "ScoredBenchmark",
    "edited",
    "edited_targets",
    "grade_at",
    "judging_pool",
    "results_key",
    "scored",
    "with_latencies",
    "without_unresolved",
]


def edited(gold: Dataset, judgments: Iterable[StoredJudgment]) -> Dataset:
    """Return *gold* with *judgments* in their order: of several on one place the last counts.

    A judgment is of as much of a place as the rule of matching looks at: where whole files are
    judged, that of a chunk is of its file. One of a query that is not asked is left out.
    """
    changes: dict[str, list[StoredJudgment]] = {}
    for judgment in judgments:
        changes.setdefault(judgment.query, []).append(judgment)
    if not changes:
        return gold
    return gold.with_queries(
        [
            query._replace(targets=edited_targets(gold, query.targets, changes[query.id]))
            if query.id in changes
            else query
            for query in gold.queries()
        ],
    )


def edited_targets(
    gold: Dataset, targets: Sequence[Target], judgments: Iterable[StoredJudgment]
) -> tuple[Target, ...]:
    """Return the *targets* of one query of *gold* with *judgments*, which are all of that query."""
    grades = {
        _place(gold, targets, each.path, each.start_line, each.end_line): each.grade
        for each in judgments
    }
    kept = [target for target in targets if _same(gold, targets, target) not in grades]
    given = [place._replace(grade=grade) for place, grade in grades.items() if grade is not None]
    return (*kept, *given)


def grade_at(
    gold: Dataset,
    query: str,
    path: str,
    *,
    start_line: int = 0,
    end_line: int = 0,
    judgments: Iterable[StoredJudgment] = (),
) -> float | None:
    """Return the grade of a place for *query*, None where nobody has judged it.

    *judgments* are those of the query that were made since; no other query is looked at.
    """
    targets = gold.targets(gold.query_ids.index(query))
    place = _place(gold, targets, path, start_line, end_line)
    now = edited_targets(gold, targets, judgments)
    grades = [target.grade for target in now if _same(gold, targets, target) == place]
    return max(grades, default=None)


def without_unresolved(gold: Dataset, unresolved: Iterable[Mapping[str, object]]) -> Dataset:
    """Return *gold* without the targets whose reference means no document.

    Each of *unresolved* names a ``query_id`` and a ``doc_ref``: the kind of a reference and what
    it says.
    """
    lost = {
        (str(each["query_id"]), str(kind), str(text))
        for each in unresolved
        for kind, text in _items(each["doc_ref"])
    }
    return gold.with_queries(
        [
            query._replace(
                targets=tuple(t for t in query.targets if (query.id, t.ref, t.path) not in lost)
            )
            for query in gold.queries()
        ],
    )


def _items(reference: object) -> Iterable[tuple[object, object]]:
    return reference.items() if isinstance(reference, Mapping) else ()


def _place(
    gold: Dataset, targets: Sequence[Target], path: str, start_line: int, end_line: int
) -> Target:
    """Return the target that a judgment is of in a query with *targets*, without its grade."""
    matcher = MATCHERS.get(gold.match)()
    hit = Hit(matcher.spelled(path), start_line=start_line, end_line=end_line)
    return as_target(hit, 0.0, matcher, targets)


def _same(gold: Dataset, targets: Sequence[Target], target: Target) -> Target:
    return _place(gold, targets, target.path, target.start_line, target.end_line)


# Raised when the document of results changes its shape, so that stored ones are computed again.
SHAPE = 2
# As many hits of one query as a reader looks through.
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
        return self.findings.summaries(place)


def results_key(store: ServiceStore, benchmark: Benchmark) -> str:
    """Return what changes whenever the results of *benchmark* may have changed."""
    state = store.benchmarks.version(benchmark.id)
    content = [benchmark.id, benchmark.status, __version__, SHAPE, state]
    return sha256(json.dumps(content).encode()).hexdigest()


def scored(
    store: ServiceStore,
    benchmark: Benchmark,
    *,
    confidence: Confidence | None = None,
    known: RunResults | None = None,
) -> ScoredBenchmark:
    """Return the completed runs of *benchmark* scored; Conflict where there is none.

    A run whose latency is not measured yet is completed too. Why targets were lost is told as far
    as :func:`karat.service.jobs.explainer.explain` has found out. *known* are the results of the
    experiment that has just run: its runs are neither read again nor, unless judgments have
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
    gold = edited(store.results.dataset(experiment.dataset), judgments)
    collection = store.collections.get(benchmark.collection)
    read = known.read if known else store.results.measured
    measured = tuple(_named(read(run.id), collection) for run in completed)
    evaluations = [known.evaluation(run.id) for run in completed] if known and not judgments else ()
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
    findings = report(
        gold,
        measured,
        origin=made_from,
        scoring=scoring,
        confidence=confidence,
        hits_kept=HITS_KEPT,
        evaluations=evaluations,
    )
    return ScoredBenchmark(
        benchmark=benchmark,
        config=config,
        experiment=experiment,
        runs=tuple(completed),
        findings=with_kept_losses(findings, [store.losses.of(run.id) for run in completed]),
        resolved=resolved,
        version=judgments[-1].version if judgments else 1,
        key=key,
    )


def with_latencies(
    store: ServiceStore, found: ScoredBenchmark, known: RunResults
) -> ScoredBenchmark | None:
    """Return *found* with the latencies in *known*; None where its scores are no longer right.

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
    measured = tuple(_named(known.read(run.id), collection) for run in runs)
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


class JudgingPool:
    """The unjudged among the first *depth* hits of each query in each run, the best ranked first.

    *version* is that of the newest known judgment; 1 is the dataset as uploaded. The targets
    as uploaded decide whether a query is judged by files or by chunks, here and in
    :func:`edited_targets`: removing a target does not change the unit of stored judgments.
    """

    def __init__(self, gold: Dataset, runs: Mapping[str, Run], *, depth: int) -> None:
        """Find the hits, and which of them *gold* judges already."""
        self.gold = gold
        self.version = 1
        self._matcher = MATCHERS.get(gold.match)()
        self._rows = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._judgments: dict[str, list[StoredJudgment]] = {}
        found = candidates(gold, runs, depth=depth)
        self._hits = sorted(
            (item for items in found.values() for item in items),
            key=lambda item: (best_rank(item), item.row),
        )
        # The places in that order, by row; and those of the hits that nobody has judged.
        self._places: dict[int, list[int]] = {}
        for place, item in enumerate(self._hits):
            self._places.setdefault(item.row, []).append(place)
        self._open: set[int] = set()
        for row in self._places:
            self._look_at(row)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, judgments: Iterable[StoredJudgment]) -> None:
        """Take notice of what was judged after *version*, in its order."""
        changed = set()
        for judgment in judgments:
            self._judgments.setdefault(judgment.query, []).append(judgment)
            changed.add(judgment.query)
            self.version = judgment.version
        for query_id in changed:
            row = self._rows.get(query_id, -1)
            if row in self._places:
                self._look_at(row)

    def page(self, *, limit: int, offset: int = 0) -> list[PooledHit]:
        """Return *limit* of the hits that nobody has judged, after *offset* of them."""
        unjudged = (item for place, item in enumerate(self._hits) if place in self._open)
        return list(islice(unjudged, offset, offset + limit))

    def _look_at(self, row: int) -> None:
        """Find out again which hits of the query at *row* are open."""
        judgments = self._judgments.get(self.gold.query_ids[row], ())
        targets = edited_targets(self.gold, self.gold.targets(row), judgments)
        for place in self._places[row]:
            if is_judged(self._hits[place].hit, targets, self._matcher):
                self._open.discard(place)
            else:
                self._open.add(place)


def judging_pool(store: ServiceStore, benchmark: Benchmark, runs: Iterable[str]) -> JudgingPool:
    """Return what *runs* of *benchmark* have found and nobody has judged; Conflict without runs."""
    answered = {run: store.results.measured(run).run for run in runs}
    if not answered or benchmark.experiment is None:
        raise Conflict(f"benchmark {benchmark.id} has no completed run yet")
    gold = store.results.dataset(store.results.show(benchmark.experiment).dataset)
    pool = JudgingPool(gold, answered, depth=BenchmarkConfig.from_json(benchmark.config).primary_k)
    pool.add(store.judgments.all(benchmark.dataset))
    return pool
