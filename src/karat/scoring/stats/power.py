"""The smallest true difference that a paired test detects with a given power.

A test of one pair of many must reach a stricter level than alone; here it is the *level* that the
uncorrected p value of the pair must not exceed.
"""

import math
from functools import lru_cache

import numpy as np

from karat.errors import InputError
from karat.scoring.stats.arrays import FloatArray, IntArray
from karat.scoring.stats.moments import Moments, normal_quantile, sign_test, t_quantile, t_two_sided

__all__ = [
    "check_power",
    "hits_level",
    "mean_level",
    "reach",
    "smallest_mean",
    "smallest_share",
]

# The sum that hits must exceed is that of a whole number of hits, up to rounding.
ROUNDING = 1e-3


def reach(df: int, *, level: float, power: float) -> float:
    """Return how many standard errors a difference must be from 0 to be detected."""
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)


def check_power(power: float) -> None:
    """Raise InputError unless *power* lies between one half and 1."""
    if not 0.5 < power < 1.0:
        raise InputError(f"power {power} is not between 0.5 and 1; expected a value such as 0.8")


def mean_level(least: float, units: int) -> float:
    """Return the level of a pair whose sum over its length must be above *least*.

    With sum s and length 1 the paired t is s sqrt((units - 1) / (units - s**2)).

    >>> round(mean_level(1.96, 100_000), 3), mean_level(3, 9)
    (0.05, 0.0)
    """
    room = units - least * least
    if room <= 0:
        return 0.0
    return t_two_sided(least * math.sqrt((units - 1) / room), units - 1)


def hits_level(least: float, changed: int) -> float:
    """Return the same for *changed* differences of one size, of which wins minus losses is the sum.

    >>> hits_level(0.0, 6), hits_level(2.4, 6), hits_level(2.5, 6)
    (0.6875, 0.03125, 0.0)
    """
    gap = math.floor(least * math.sqrt(changed) + ROUNDING) + 1
    # Wins minus losses is even or odd as their sum is.
    gap += (changed - gap) % 2
    if gap > changed:
        return 0.0
    return sign_test((changed + gap) // 2, (changed - gap) // 2)


def smallest_mean(found: Moments, *, changed: int, level: float, power: float) -> float | None:
    """Return the mean difference that is detected; None if no difference can be.

    *changed* of the units of *found* are not 0. With few of them the sign-flip test needs all to
    have one sign, which is a stricter condition than that of Student's t.
    """
    if not found.se > 0 or level < 2.0 ** (1 - changed):
        return None
    df = found.units - 1
    size = reach(df, level=1 - level, power=power) * found.se
    if level < 2.0 ** (2 - changed):
        alike = normal_quantile(power ** (1 / changed))
        size = max(size, alike * found.se * math.sqrt(found.units))
    return size


@lru_cache(maxsize=4096)
def smallest_share(queries: int, changed: int, *, level: float, power: float) -> int | None:
    """Return the wins minus losses over *queries* that McNemar's exact test detects.

    None if it detects not even wins on all queries. As many queries as here are expected to change,
    or as many as the difference needs.

    >>> smallest_share(100, 10, level=0.05, power=0.8), smallest_share(5, 3, level=0.05, power=0.8)
    (9, None)
    """

    def is_detected(steps: int) -> bool:
        return hits_power(queries, max(changed, steps) / queries, steps / queries, level) >= power

    if level <= 0.0:
        return None
    # Few are enough of most sets, and cost less to try.
    low, high = 0, min(8, queries)
    while not is_detected(high):
        if high == queries:
            return None
        low, high = high, min(2 * high, queries)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_detected(middle) else (middle, high)
    return high


def hits_power(queries: int, changed: float, difference: float, level: float) -> float:
    """Return how often McNemar's exact test finds a *difference* at *level*.

    *changed* is the share of the queries on which exactly one of both systems has a hit.
    """
    spread = 5 * math.sqrt(queries * changed * (1 - changed)) + 1
    first = max(0, math.floor(queries * changed - spread))
    last = min(queries, math.ceil(queries * changed + spread))
    # Some thirty numbers of changed queries stand for all.
    counts = np.arange(first, last + 1, max(1, (last - first) // 30))
    chances = np.exp(log_binomial(queries, counts, changed))
    wins = np.arange(counts[-1] + 1)
    won = np.exp(log_binomial(counts[:, None], wins, (1 + difference / changed) / 2))
    found = (won * (2 * half_tails(counts) <= level * (1 + 1e-9))).sum(axis=1)
    return float((chances * found).sum() / chances.sum())


def half_tails(counts: IntArray) -> FloatArray:
    """Return ``[count, wins]``: the chance of at least so many heads among fair coins."""
    wins = np.arange(int(counts.max()) + 1)
    heads = np.exp(log_binomial(counts[:, None], wins, 0.5))
    return np.asarray(heads[:, ::-1].cumsum(axis=1)[:, ::-1])


def log_binomial(trials: int | IntArray, hits: IntArray, chance: float) -> FloatArray:
    """Return the logarithm of the chance of *hits* among *trials*; -inf for more than those."""
    chance = min(max(chance, 1e-15), 1 - 1e-15)
    missed = trials - hits
    logs = log_factorials(int(np.max(trials)))
    rest = np.maximum(missed, 0)
    found = logs[trials] - logs[np.minimum(hits, trials)] - logs[rest]
    found = found + hits * math.log(chance) + rest * math.log1p(-chance)
    return np.where(missed < 0, -math.inf, found)


@lru_cache(maxsize=64)
def log_factorials(most: int) -> FloatArray:
    """Return the logarithm of each factorial from that of 0 to that of *most*."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
