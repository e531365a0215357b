"""Two-way analysis of variance without replication: systems by queries."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.stats.arrays import as_columns
from karat.stats.distributions import f_tail

__all__ = ["Anova", "two_way_anova"]


class Anova(NamedTuple):
    """F and p of systems and of queries, and the residual variance; None where undefined."""

    f_systems: float | None
    p_systems: float | None
    f_queries: float | None
    p_queries: float | None
    residual_variance: float | None


def two_way_anova(values: ArrayLike) -> Anova:
    """Return the analysis of ``values[query, system]``; queries that any system lacks are left out.

    >>> result = two_way_anova([[1, 2], [2, 4], [3, 3]])
    >>> result.f_systems, result.residual_variance
    (3.0, 0.5)
    """
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    table = table[~np.isnan(table).any(axis=1)]
    queries, systems = table.shape
    if queries < 2:
        return Anova(None, None, None, None, None)
    centred = table - table.mean()
    by_system, by_query = centred.mean(axis=0), centred.mean(axis=1)
    residuals = centred - by_system - by_query[:, None]
    df = (queries - 1) * (systems - 1)
    variance = float((residuals**2).sum()) / df
    # Residuals that are rounding crumbs are none: their F would be chance.
    if math.sqrt(variance) <= 1e-12 * float(np.abs(table).max()):
        return Anova(None, None, None, None, 0.0)
    f_systems = queries * float((by_system**2).sum()) / (systems - 1) / variance
    f_queries = systems * float((by_query**2).sum()) / (queries - 1) / variance
    return Anova(
        f_systems,
        f_tail(f_systems, systems - 1, df),
        f_queries,
        f_tail(f_queries, queries - 1, df),
        variance,
    )
