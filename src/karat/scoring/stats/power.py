"""The smallest true difference that a paired test detects with a given power."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from karat.errors import InputError
from karat.scoring.stats.arrays import FloatArray, IntArray
from karat.scoring.stats.moments import Moments, normal_quantile, t_quantile, t_two_sided

# The interval must agree with the test: of two systems, in 0.01 to 0.03 of the cases in which the
# test finds the difference it does not.
AGREEMENT = 0.02
# Hits reach a sum, or do not, by a whole number of wins: a smaller distance is rounding.
ROUNDING = 1e-3


class Threshold(NamedTuple):
    """When a pair is significant: its own p value is at most *level*, and its sum above *least*.

    The sum of the differences is over their length, as that of the sign flips. It is 0 if no
    maximum over many pairs corrects the p value.
    """

    level: float
    least: float = 0.0


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


def smallest_mean(
    moments: Moments, threshold: Threshold, *, changed: int, power: float
) -> float | None:
    """Return the mean difference that is detected; None if no difference can be.

    *changed* of the units of *moments* are not 0. With few of them the sign-flip test needs all to
    have one sign, which is a stricter condition than that of Student's t.
    """
    level = min(threshold.level, mean_level(threshold.least, moments.units))
    if not moments.se > 0 or level < 2.0 ** (1 - changed):
        return None
    df = moments.units - 1
    if not threshold.least:
        power = min(power + AGREEMENT, (1 + power) / 2)
    size = reach(df, level=1 - level, power=power) * moments.se
    if level < 2.0 ** (2 - changed):
        alike = normal_quantile(power ** (1 / changed))
        size = max(size, alike * moments.se * math.sqrt(moments.units))
    return size


@lru_cache(maxsize=4096)
def smallest_share(queries: int, changed: int, threshold: Threshold, *, power: float) -> int | None:
    """Return the wins minus losses over *queries* that McNemar's exact test detects.

    None if it detects not even wins on all queries. As many queries as here are expected to change,
    or as many as the difference needs.

    >>> smallest_share(100, 10, Threshold(0.05), power=0.8)
    9
    """

    def is_detected(steps: int) -> bool:
        shares = max(changed, steps) / queries, steps / queries
        return hits_power(queries, *shares, threshold) >= power

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


def hits_power(queries: int, changed: float, difference: float, threshold: Threshold) -> float:
    """Return how often McNemar's exact test finds a *difference*.

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
    # Up to rounding, a sum over its length is wins minus losses over the root of both.
    least = threshold.least * np.sqrt(counts)[:, None] + ROUNDING
    is_rare = 2 * half_tails(counts) <= threshold.level * (1 + 1e-9)
    detected = (won * (is_rare & (2 * wins - counts[:, None] > least))).sum(axis=1)
    return float((chances * detected).sum() / chances.sum())


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
    log_chances = logs[trials] - logs[np.minimum(hits, trials)] - logs[rest]
    log_chances = log_chances + hits * math.log(chance) + rest * math.log1p(-chance)
    return np.where(missed < 0, -math.inf, log_chances)


@lru_cache(maxsize=64)
def log_factorials(most: int) -> FloatArray:
    """Return the logarithm of each factorial from that of 0 to that of *most*."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
