"""How runs differ from earlier runs of the same engines: the previous one, and a pinned one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from karat.app.evaluate import EvaluationResult, ExperimentResult, FinishedRuns, score_runs
from karat.experiments.store import Experiment, PastRun, Store, StoredRun, open_store
from karat.experiments.stored_runs import past_runs
from karat.formats.gold import gold_digest
from karat.model import Dataset
from karat.model.change import Earlier, RunChange
from karat.model.comparison import Comparison
from karat.model.evaluation import Evaluation
from karat.model.timings import RunResult
from karat.scoring.compare import compare_tables, testable_measures
from karat.scoring.score import cluster_labels
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import judge_whole_files

# Larger runs are not read a second time unless that is asked for: karat compare A@previous A.
MOST_QUERIES = 50_000
# The past runs that are read, at most, until one can be compared.
MOST_READ = 5
# Returns the finished runs of a name, the newest first.
PastRuns = Callable[[str], Sequence[PastRun]]


class ScoredStoredRun(NamedTuple):
    """A run of an experiment with its answers and its scores."""

    stored: StoredRun
    measured: RunResult
    evaluation: Evaluation


def with_changes(
    result: EvaluationResult,
    gold: Dataset,
    done: ExperimentResult,
    runs: FinishedRuns,
    *,
    store: str,
    scoring: Scoring,
    confidence: Confidence,
) -> EvaluationResult:
    """Return *result* of *runs* of *done* with how they differ from earlier runs in *store*.

    Scores that use a human sample of this gold set have no counterpart in earlier runs. Very large
    runs are left out: two of them may not fit into memory.
    """
    if confidence.human_sample or len(gold) > MOST_QUERIES:
        return result
    overall = result.overall
    evaluations = [overall] if isinstance(overall, Evaluation) else overall.evaluations
    stored = {run.id: run for run in done.experiment.runs}
    scored = [
        ScoredStoredRun(stored[run], measured, evaluation)
        for run, measured, evaluation in zip(runs.ids, runs.runs, evaluations, strict=True)
    ]
    with open_store(store) as opened:
        changes = run_changes(
            opened, done.experiment, gold, scored, scoring=scoring, confidence=confidence
        )
    return replace(result, changes=changes)


def run_changes(
    store: Store,
    experiment: Experiment,
    gold: Dataset,
    runs: Sequence[ScoredStoredRun],
    *,
    scoring: Scoring,
    confidence: Confidence,
    past: PastRuns | None = None,
) -> tuple[RunChange, ...]:
    """Return how each of *runs* of *experiment* differs from earlier runs of the same name.

    Both are judged on *gold* as it is now, on the queries of both. The previous run is the last one
    that had ended before; a pinned run is compared too, and once if it is the previous one. A run
    that is broken, or has no earlier one, has no change. *past* returns the runs of a name, the
    newest first; by default those on the same gold set.
    """
    known = past or (lambda name: past_runs(store, name, gold))
    compare = _Changes(store, gold, scoring, confidence, known)
    return tuple(
        change
        for run in runs
        if not run.evaluation.broken
        for change in compare.of(experiment, run)
    )


class _Changes:
    """Compares runs on one gold set with earlier ones."""

    def __init__(
        self,
        store: Store,
        gold: Dataset,
        scoring: Scoring,
        confidence: Confidence,
        past: PastRuns,
    ) -> None:
        self._past = past
        self._store = store
        self._gold = gold
        self._scoring = scoring
        self._confidence = confidence
        self._measure = testable_measures(scoring.parsed(gold))[0]
        self._clusters = cluster_labels(gold, confidence.cluster)
        self._digest = gold_digest(gold)
        self._rows: dict[str, list[int]] = {}

    def of(self, experiment: Experiment, run: ScoredStoredRun) -> Iterator[RunChange]:
        """Yield the changes of *run* since the previous run and since the pinned one."""
        known = self._past(run.stored.label)
        ended = run.stored.ended or run.stored.scored
        others = [past for past in known if past.id != run.stored.id]
        pinned = [past for past in others if past.pinned]
        before = [past for past in others if ended is None or past.ended < ended]
        previous = self._first(experiment, run, before[:MOST_READ], Earlier.PREVIOUS)
        if previous and previous.earlier in {past.id for past in pinned}:
            pinned = []
        for change in (previous, self._first(experiment, run, pinned, Earlier.PINNED)):
            if change:
                yield change

    def _first(
        self,
        experiment: Experiment,
        run: ScoredStoredRun,
        known: Sequence[PastRun],
        against: Earlier,
    ) -> RunChange | None:
        """Return the change since the first of *known* that can be compared."""
        for past in known:
            if comparison := self._comparison(run, past, against):
                return RunChange(
                    run.evaluation.name,
                    against,
                    past.id,
                    past.ended,
                    len(self._gold),
                    tuple(_altered(experiment, run.stored, past)),
                    comparison,
                )
        return None

    def _comparison(
        self, run: ScoredStoredRun, past: PastRun, against: Earlier
    ) -> Comparison | None:
        """Return *run* compared with *past*; None without a common query that both have scores."""
        rows = self._common(past.dataset)
        if not rows:
            return None
        name = f"{run.evaluation.name}@{against}"
        before = self._store.measured(past.id)
        answered = set(before.run.query_ids)
        rows = [row for row in rows if self._gold.query_ids[row] in answered]
        both = {name: before.run, run.evaluation.name: run.measured.run}
        scoring = judge_whole_files(self._gold, both, self._scoring)
        alike = bool(scoring.unit) == bool(run.evaluation.notes.unit)
        earlier, now = score_runs(
            self._gold,
            [replace(before, name=name), run.measured],
            scoring,
            measures=[self._measure],
            known=[None, run.evaluation if alike else None],
        )
        if earlier.broken or not rows:
            return None
        comparison = compare_tables(
            [earlier.table, now.table],
            [self._measure],
            rows,
            self._confidence,
            clusters=self._clusters,
            baseline=name,
        )
        return comparison if comparison.differences[0].n else None

    def _common(self, dataset: str) -> list[int]:
        """Return the rows of the queries that the gold set with the digest *dataset* has too."""
        if dataset == self._digest:
            return list(range(len(self._gold)))
        if dataset not in self._rows:
            other = self._store.dataset(dataset)
            texts = dict(zip(other.query_ids, other.texts, strict=True))
            pairs = zip(self._gold.query_ids, self._gold.texts, strict=True)
            self._rows[dataset] = [
                row for row, (query, text) in enumerate(pairs) if texts.get(query) == text
            ]
        return self._rows[dataset]


def _altered(experiment: Experiment, run: StoredRun, past: PastRun) -> Iterator[str]:
    """Yield what is known to differ between *run* and *past* beside their hits."""
    yield from _changed_files(past.content or {}, run.content or {})
    if run.engine.digest != past.engine:
        yield "options"
    if run.snapshot != past.snapshot:
        yield "documents"
    if experiment.version != past.version:
        yield f"Karat {past.version} to {experiment.version}"


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of files that differ; files of one side alone are another engine's."""
    for path, digest in now.items():
        if before.get(path, digest) != digest:
            yield PurePath(path).name
