"""The result of an experiment: its runs scored or compared, with and without missing targets."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from karat.errors import EngineError
from karat.experiments.run import ExperimentResult
from karat.experiments.store import RunStatus, StoredRun
from karat.model import Dataset
from karat.model.evaluation import ComparisonResult, CorpusCoverage, Evaluation
from karat.model.timings import RunResult
from karat.scoring.compare import compare_scored_runs
from karat.scoring.metrics import Measure
from karat.scoring.score import (
    cluster_labels,
    evaluate_run,
    slice_rows,
    with_dropped,
    with_intervals,
    with_measures,
)
from karat.scoring.settings import Confidence, Scoring

__all__ = [
    "EvaluationResult",
    "FinishedRuns",
    "Result",
    "evaluate_experiment",
    "score_runs",
    "select_finished",
]

# One run scored, or several compared.
Result = Evaluation | ComparisonResult


class FinishedRuns(NamedTuple):
    """The runs that can be judged, by the *ids* that the store gave them, and the failed ones."""

    runs: tuple[RunResult, ...]
    ids: tuple[str, ...]
    failed: tuple[StoredRun, ...]

    def reasons(self) -> Iterator[tuple[str, str]]:
        """Yield the names of failed runs with their error, one pair for each error."""
        from karat.system.words import first_few, join_names

        alike: dict[str, list[str]] = {}
        for run in self.failed:
            alike.setdefault(run.error, []).append(run.label)
        for reason, names in alike.items():
            yield join_names(first_few(names)), reason


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The result of :func:`evaluate_experiment`.

    In *overall* a target that is not in the searched snapshot counts as missed; *resolved* is
    without such targets, None if there is none or no other. *remarks* are those of the experiment.
    """

    searched: CorpusCoverage
    runs: tuple[RunResult, ...]
    overall: Result
    resolved: Result | None
    remarks: tuple[str, ...]


def select_finished(done: ExperimentResult) -> FinishedRuns:
    """Return the runs of *done* that have not failed; EngineError where every one has failed."""
    stored = done.experiment.runs
    failed = tuple(run for run in stored if run.status is RunStatus.FAILED)
    if len(failed) == len(stored):
        raise EngineError("\n".join(dict.fromkeys(run.error for run in failed)))
    usable = tuple(run.id for run in stored if run.status is not RunStatus.FAILED)
    return FinishedRuns(tuple(map(done.results.read, usable)), usable, failed)


def evaluate_experiment(
    gold: Dataset,
    done: ExperimentResult,
    *,
    runs: FinishedRuns | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
) -> EvaluationResult:
    """Return the scores of the finished runs of *done* on *gold*.

    *runs* is what :func:`select_finished` has returned. Where *gold* and *scoring* are those of the
    request, the scores are those that the experiment has computed.
    """
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    runs = runs or select_finished(done)
    known = done.results.evaluations(runs.ids, gold, scoring)
    scored = score_runs(gold, runs.runs, scoring, known=known)
    overall = _result(gold, scored, scoring, confidence, by=tuple(by))
    rest = None
    if done.resolved is not None:
        scored = score_runs(done.resolved, runs.runs, scoring)
        rest = _result(done.resolved, scored, scoring, confidence)
    return EvaluationResult(done.searched, runs.runs, overall, rest, done.remarks)


def score_runs(
    gold: Dataset,
    runs: Sequence[RunResult],
    scoring: Scoring,
    *,
    measures: Sequence[Measure] | None = None,
    known: Sequence[Evaluation | None] = (),
) -> list[Evaluation]:
    """Return the scores of *runs* on *gold* by *measures*, or by those of *scoring*.

    A run is scored only where *known* has no scores of it by all of these measures. Intervals are
    left to the caller.
    """
    measures = scoring.parsed(gold) if measures is None else measures
    names = set(map(str, measures))
    found = []
    for run, scored in zip_longest(runs, known[: len(runs)]):
        evaluation = scored
        if evaluation is None or not names <= evaluation.table.columns.keys():
            evaluation = evaluate_run(
                gold,
                run.run,
                scoring=scoring.with_measures(measures),
                confidence=None,
                slices={},
                name=run.name,
            )
        found.append(with_dropped(with_measures(evaluation, measures), run))
    return found


def _result(
    gold: Dataset,
    scored: Sequence[Evaluation],
    scoring: Scoring,
    confidence: Confidence,
    *,
    by: Sequence[str] = (),
) -> Result:
    if len(scored) > 1:
        return compare_scored_runs(gold, scored, scoring=scoring, confidence=confidence, by=by)
    return with_intervals(
        scored[0],
        scoring.parsed(gold),
        confidence,
        slices=slice_rows(gold, by),
        clusters=cluster_labels(gold, confidence.cluster),
    )
