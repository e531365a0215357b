"""What an experiment has shown: its runs scored or compared, with and without lost targets."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import EngineError
from karat.experiments.run import ExperimentRun
from karat.experiments.store import RunStatus, StoredRun
from karat.model import Dataset
from karat.model.contest import Contest
from karat.model.evaluation import Evaluation
from karat.model.searched import Searched
from karat.model.timings import Measured
from karat.scoring.compare import compare
from karat.scoring.score import score, with_dropped
from karat.scoring.settings import Confidence, Scoring

__all__ = ["EvaluationResult", "FinishedRuns", "Result", "evaluated", "finished"]

# One run scored, or several compared.
Result = Evaluation | Contest


class FinishedRuns(NamedTuple):
    """The runs that can be judged, and those that came to no end by themselves."""

    runs: tuple[Measured, ...]
    failed: tuple[StoredRun, ...]

    def reasons(self) -> Iterator[tuple[str, str]]:
        """Yield why runs have failed, each reason after the names of all that it is true of."""
        from karat.scoring.stats.verdict import first_few, join_names

        alike: dict[str, list[str]] = {}
        for run in self.failed:
            alike.setdefault(run.error, []).append(run.label)
        for reason, names in alike.items():
            yield join_names(first_few(names)), reason


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """What :func:`evaluated` found.

    In *overall* a target that is not in the tree searched counts as missed; *resolved* is without
    such targets, and None where there is none, or no other. *remarks* are those of the experiment.
    """

    searched: Searched
    runs: tuple[Measured, ...]
    overall: Result
    resolved: Result | None
    remarks: tuple[str, ...]


def finished(done: ExperimentRun) -> FinishedRuns:
    """Return the runs of *done*; EngineError where every one has failed."""
    stored = done.experiment.runs
    failed = tuple(run for run in stored if run.status is RunStatus.FAILED)
    if len(failed) == len(stored):
        raise EngineError("\n".join(dict.fromkeys(run.error for run in failed)))
    runs = tuple(
        measured
        for run, measured in zip(stored, done.measured, strict=True)
        if run.status is not RunStatus.FAILED
    )
    return FinishedRuns(runs, failed)


def evaluated(
    gold: Dataset,
    done: ExperimentRun,
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
) -> EvaluationResult:
    """Return the scores of the finished runs of *done* on *gold*."""
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    runs = finished(done).runs
    overall = _judged(gold, runs, scoring, confidence, by=tuple(by))
    left = done.resolved
    rest = None if left is None else _judged(left, runs, scoring, confidence)
    return EvaluationResult(done.searched, runs, overall, rest, done.remarks)


def _judged(
    gold: Dataset,
    runs: Sequence[Measured],
    scoring: Scoring,
    confidence: Confidence,
    *,
    by: Sequence[str] = (),
) -> Result:
    if len(runs) == 1:
        measured = runs[0]
        found = score(
            gold, measured.run, scoring=scoring, confidence=confidence, by=by, name=measured.name
        )
        return with_dropped(found, measured)
    return compare(
        gold,
        [measured.run for measured in runs],
        scoring=scoring,
        confidence=confidence,
        by=by,
        names=[measured.name for measured in runs],
        measured=runs,
    )
