"""Intervals and comparisons of score columns: where numbers meet statistics."""

from collections.abc import Sequence
from math import isinf

from karat.app.settings import Confidence
from karat.metrics import Measure
from karat.model.comparison import Interval
from karat.stats import bootstrap_intervals

__all__ = ["bounds_of", "mean_intervals"]


def mean_intervals(
    columns: Sequence[Sequence[float]],
    measures: Sequence[Measure],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None = None,
) -> list[Interval | None]:
    """Return an interval for the mean of each column; none where a measure is no plain mean.

    Queries that share a label in *clusters* are drawn together.
    """
    import numpy as np

    found = bootstrap_intervals(
        np.array(columns).T,
        bounds=[bounds_of(measure) for measure in measures],
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=clusters,
    )
    return [
        interval if measure.definition.average == "arithmetic" else None
        for interval, measure in zip(found, measures, strict=True)
    ]


def bounds_of(measure: Measure) -> tuple[float, float] | None:
    """Return what a mean of *measure* can be, None where one end is open."""
    metric = measure.definition
    return None if isinf(metric.low) or isinf(metric.high) else (metric.low, metric.high)
