"""Scores of a run on the first measure, and the interval of their mean."""

from collections.abc import Sequence

from karat.errors import InputError
from karat.model import Dataset
from karat.model.comparison import Interval
from karat.model.timings import RunResult
from karat.scoring.metrics import Measure
from karat.scoring.score import evaluate_run, mean_intervals
from karat.scoring.settings import Confidence, Scoring


def lead_scores(gold: Dataset, run: RunResult, lead: Measure, scoring: Scoring) -> list[float]:
    """Return the score of each query on *lead*."""
    evaluation = evaluate_run(
        gold,
        run.run,
        scoring=scoring.with_measures([lead]),
        confidence=None,
        slices={},
        name=run.name,
    )
    return list(evaluation.table.columns[str(lead)])


def mean_interval(
    values: Sequence[float],
    lead: Measure,
    confidence: Confidence,
    clusters: Sequence[str] | None,
) -> Interval:
    """Return the interval of the mean of *values*; a measure that is not a mean is an error."""
    (interval,) = mean_intervals([values], [lead], confidence, clusters=clusters)
    if interval is None:
        raise InputError(f"{lead} is not a mean over queries; expected a measure such as ndcg@10")
    return interval
