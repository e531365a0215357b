"""Means over rankings, each with its confidence interval."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from karat.model.comparison import Interval
from karat.scoring.metrics import Measure, average

__all__ = ["Estimate", "estimates"]


class Estimate(NamedTuple):
    """A mean with its interval; the mean is None where nothing was scored."""

    mean: float | None
    interval: Interval


def estimates(
    rows: Sequence[Mapping[str, float]],
    measures: Sequence[Measure],
    *,
    level: float,
    draws: int,
    seed: int,
) -> dict[str, Estimate]:
    """Return the mean of each measure over *rows* with its bootstrap interval."""
    from karat.scoring.stats import bootstrap_intervals

    names = [str(measure) for measure in measures]
    columns = [[row[name] for name in names] for row in rows] or [[float("nan")] * len(names)]
    intervals = bootstrap_intervals(
        columns,
        bounds=[measure.bounds for measure in measures],
        level=level,
        draws=draws,
        seed=seed,
    )
    found = {}
    for name, interval in zip(names, intervals, strict=True):
        mean = average([row[name] for row in rows])
        found[name] = Estimate(None if isnan(mean) else mean, interval)
    return found
