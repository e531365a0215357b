"""Intervals and comparisons of score columns: where numbers meet statistics."""

from collections.abc import Sequence

from karat.app.settings import Confidence
from karat.metrics import Measure
from karat.model.comparison import Interval
from karat.stats import bootstrap_intervals

__all__ = ["mean_intervals"]


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
        bounds=[measure.bounds for measure in measures],
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=clusters,
    )
    return [
        interval if measure.definition.average == "arithmetic" else None
        for interval, measure in zip(found, measures, strict=True)
    ]
