"""Whether two judges order systems alike, and whether one favours a system.

Scores of one query are dependent, so every interval resamples whole queries.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.agreement import function_interval, known_number
from karat.scoring.stats.arrays import TIE, FloatArray, as_columns
from karat.scoring.stats.bootstrap import bootstrap_intervals
from karat.scoring.stats.signflip import holm, sign_flip

# Fewer distinct systems than this have no order to compare.
FEWEST_SYSTEMS = 2


class OrderAgreement(NamedTuple):
    """How similarly two judges order systems by their means; None if either mean is tied for all.

    *tau* is Kendall's tau-b; *tau_ap* weighs the top of the order more.
    """

    systems: int
    queries: int
    tau: float | None
    interval: Interval
    tau_ap: float | None


class SystemBias(NamedTuple):
    """How much the second judge favours a system over the mean of all systems.

    *p* is corrected for the number of systems (Holm); None without two queries.
    """

    bias: float | None
    interval: Interval
    p: float | None
    n: int


def order_agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> OrderAgreement:
    """Return how similarly two judges order systems; both are scores ``[query, system]``.

    A query counts if every score of both judges is known.

    >>> people = [[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]]
    >>> order_agreement(people, [[0.3, 0.2, 0.9], [0.3, 0.1, 0.7]]).tau
    0.3333333333333333
    """
    one, other = _score_tables(first, second)
    known = ~(np.isnan(one) | np.isnan(other)).any(axis=1)
    one, other = one[known], other[known]
    queries, systems = one.shape
    if systems < FEWEST_SYSTEMS or not queries:
        return OrderAgreement(systems, queries, None, Interval(None, None, level, "none"), None)
    interval = function_interval(
        np.concatenate([one, other], axis=1),
        lambda sums: _taus(sums[:, :systems], sums[:, systems:]),
        bounds=(-1.0, 1.0),
        level=level,
        draws=draws,
        seed=seed,
    )
    means = one.mean(axis=0), other.mean(axis=0)
    return OrderAgreement(systems, queries, kendall_tau_b(*means), interval, tau_ap(*means))


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's tau-b of two lists of scores; None if either has the same score everywhere.

    Scores that agree to twelve digits are tied.

    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    one, other = (np.asarray(each, dtype=np.float64)[None] for each in (first, second))
    return known_number(_taus(one, other)[0])


def tau_ap(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Yilmaz's tau_AP of the order by *second* given the true order by *first*.

    For each system below the top: the share of the systems above it that belong above it. A tie in
    *first* counts half. None if *second* ties all systems.

    >>> [round(tau_ap([4, 3, 2, 1], other), 3) for other in ([3, 4, 2, 1], [4, 3, 1, 2])]
    [0.333, 0.778]
    """
    one, other = (_signs(np.asarray(each, dtype=np.float64)) for each in (first, second))
    above = (other < 0).sum(axis=1)
    right = ((other < 0) * (1.0 - one) / 2).sum(axis=1)
    below_top = above > 0
    if not below_top.any():
        return None
    return float(2.0 * (right[below_top] / above[below_top]).mean() - 1.0)


def system_bias(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> tuple[SystemBias, ...]:
    """Return how much the *second* judge favours each system, in scores ``[query, system]``.

    A bias is the mean of (second - first) of a system minus the mean of all systems: a judge that
    is generous to all systems alike has none. A query counts if every score is known. Two systems
    have opposite biases, which is one test: its p value needs no correction.

    >>> bias = system_bias([[0.5, 0.5]] * 9, [[0.7, 0.6]] * 9)
    >>> [(round(each.bias, 3), round(each.p, 4)) for each in bias]
    [(0.05, 0.0039), (-0.05, 0.0039)]
    """
    one, other = _score_tables(first, second)
    known = ~(np.isnan(one) | np.isnan(other)).any(axis=1)
    gap = other[known] - one[known]
    queries, systems = gap.shape
    if not queries or systems < FEWEST_SYSTEMS:
        unknown = SystemBias(None, Interval(None, None, level, "none"), None, queries)
        return tuple(unknown for _ in range(systems))
    excess = gap - gap.mean(axis=1, keepdims=True)
    excess[np.abs(excess) <= TIE] = 0.0
    intervals = bootstrap_intervals(excess, bounds=(-2, 2), level=level, draws=draws, seed=seed)
    ps = [test.p for test in sign_flip(excess, draws=draws, seed=seed)]
    corrected = holm(ps) if systems > FEWEST_SYSTEMS else ps
    means = excess.mean(axis=0).tolist()
    return tuple(
        SystemBias(mean, interval, p, queries)
        for mean, interval, p in zip(means, intervals, corrected, strict=True)
    )


def _score_tables(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, other = as_columns(first), as_columns(second)
    if one.shape != other.shape:
        raise InputError(
            f"scores have the shapes {one.shape} and {other.shape}; expected the same queries and "
            "systems by both judges"
        )
    return one, other


def _signs(values: FloatArray) -> FloatArray:
    """Return ``sign(values[..., i] - values[..., j])``; 0 if they agree to twelve digits."""
    one, other = values[..., :, None], values[..., None, :]
    difference = one - other
    close = np.abs(difference) <= TIE * np.maximum(np.abs(one), np.abs(other))
    return np.where(close, 0.0, np.sign(difference))


def _taus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return tau-b for each row of two tables ``[draw, system]``; NaN if a row is all ties."""
    one, other = _signs(first), _signs(second)
    both = (one * other).sum(axis=(1, 2))
    scale = np.sqrt((one * one).sum(axis=(1, 2)) * (other * other).sum(axis=(1, 2)))
    defined = scale > 0
    return np.where(defined, both / np.where(defined, scale, 1.0), np.nan)
