"""What a set of queries can see: minimum detectable difference and the queries needed for one."""

import math

from karat.errors import InputError
from karat.stats.bootstrap import check_level
from karat.stats.distributions import t_quantile

__all__ = ["detectable_difference", "queries_needed"]

# More queries than anyone will judge; a difference that needs more is out of reach.
MOST_QUERIES = 2**40


def detectable_difference(
    sd: float, n: int, *, level: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the true difference that a paired test on *n* queries finds with probability *power*.

    *sd* is the standard deviation of the differences; the test is two-sided at 1 - *level*, and
    both quantiles are Student's. None for fewer than two queries or without a standard deviation.

    >>> round(detectable_difference(0.3, 127), 3), round(detectable_difference(0.3, 30), 3)
    (0.075, 0.159)
    """
    check_level(level)
    check_power(power)
    if n < 2 or math.isnan(sd):
        return None
    return reach(n - 1, level=level, power=power) * sd / math.sqrt(n)


def queries_needed(sd: float, difference: float, *, level: float = 0.95, power: float = 0.8) -> int:
    """Return the smallest number of queries that makes *difference* detectable.

    >>> queries_needed(0.3, 0.05), queries_needed(0.3, 0.02)
    (285, 1768)
    """
    check_level(level)
    check_power(power)
    if not sd >= 0.0:
        raise InputError(f"standard deviation {sd} is not a number of 0 or more")
    if not difference > 0.0:
        raise InputError(f"difference {difference} is not a positive number; nothing to detect")
    low, high = 1, 2
    while reach(high - 1, level=level, power=power) * sd / math.sqrt(high) > difference:
        low, high = high, high * 2
        if high > MOST_QUERIES:
            raise InputError(f"difference {difference} is too small to detect at all")
    while high - low > 1:
        middle = (low + high) // 2
        found = reach(middle - 1, level=level, power=power) * sd / math.sqrt(middle)
        low, high = (low, middle) if found <= difference else (middle, high)
    return high


def reach(df: int, *, level: float, power: float) -> float:
    """Return how many standard errors a difference must be away from 0 to be found."""
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)


def check_power(power: float) -> None:
    """Raise InputError unless *power* lies between one half and 1."""
    if not 0.5 < power < 1.0:
        raise InputError(f"power {power} is not between 0.5 and 1; expected such as 0.8")
