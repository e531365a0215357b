"""Mean and standard error of columns, with or without clusters of dependent queries."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.stats.arrays import as_columns, cluster_codes, cluster_sums

__all__ = ["Moments", "column_moments"]


class Moments(NamedTuple):
    """Mean, standard deviation (n - 1) and standard error of the mean; NaN where undefined.

    ``units`` is what was drawn independently: queries, or clusters of them.
    """

    n: int
    units: int
    mean: float
    sd: float
    se: float

    @property
    def varies(self) -> bool:
        """Whether the values differ by more than rounding."""
        return self.sd > 1e-12 * abs(self.mean)


def column_moments(values: ArrayLike, *, clusters: ArrayLike | None = None) -> tuple[Moments, ...]:
    """Return the moments of each column of ``values[query, column]``; NaN is left out.

    With *clusters* the standard error is the one of a ratio of cluster totals to cluster sizes,
    so queries of one cluster may depend on each other in any way.

    >>> column_moments([1, 0, 1, 0])[0].mean
    0.5
    """
    columns = as_columns(values)
    present = ~np.isnan(columns)
    n = present.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, columns, 0.0).sum(axis=0) / n
        centred = np.where(present, columns - mean, 0.0)
        sd = np.sqrt((centred * centred).sum(axis=0) / np.where(n > 1, n - 1, math.nan))
        if clusters is None:
            units, se = n, sd / np.sqrt(n)
        else:
            codes = cluster_codes(clusters, len(columns))
            units = (cluster_sums(present.astype(np.float64), codes) > 0).sum(axis=0)
            totals = cluster_sums(centred, codes)
            inflation = units / np.where(units > 1, units - 1, math.nan)
            se = np.sqrt(inflation * (totals * totals).sum(axis=0)) / n
    rows = zip(n.tolist(), units.tolist(), mean.tolist(), sd.tolist(), se.tolist(), strict=True)
    return tuple(Moments(*row) for row in rows)
