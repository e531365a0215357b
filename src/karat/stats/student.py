"""Paired t test: the instant second opinion beside the randomisation test."""

from typing import NamedTuple

from numpy.typing import ArrayLike

from karat.stats.distributions import t_two_sided
from karat.stats.moments import Moments, column_moments

__all__ = ["TTest", "paired_t"]


class TTest(NamedTuple):
    """Student's t, its degrees of freedom and the two-sided p value; None without a variance."""

    t: float | None
    df: int
    p: float | None


def paired_t(differences: ArrayLike, *, clusters: ArrayLike | None = None) -> TTest:
    """Return the test that the mean of *differences* is 0; NaN is left out.

    Fewer than two differences, or differences that are all equal, have no t; if all are 0, p is 1.

    >>> test = paired_t([0.2, 0.1, 0.4, 0.3])
    >>> round(test.t, 3), test.df, round(test.p, 4)
    (3.873, 3, 0.0305)
    """
    (found,) = column_moments(differences, clusters=clusters)
    return t_from_moments(found)


def t_from_moments(found: Moments) -> TTest:
    """Return the test from a mean and its standard error."""
    df = max(found.units - 1, 0)
    if df and found.mean == 0.0 and found.sd == 0.0:
        return TTest(None, df, 1.0)
    # Cluster totals may cancel out although the values vary, hence the second condition.
    if not found.varies or not found.se > 1e-12 * abs(found.mean):
        return TTest(None, df, None)
    t = found.mean / found.se
    return TTest(t, df, t_two_sided(t, df))
