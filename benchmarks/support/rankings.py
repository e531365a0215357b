"""Agreement of two gold sets on the ranking of engines: Kendall's tau-b with its interval.

A side is a list of score tables, one for each repository, ``[engine, query]``. An engine's score is
the mean over repositories of its mean over queries, so that no repository counts more than another.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Side = Sequence[Scores]
# Sums in another order differ in the last digits; engines that differ by less are tied.
DIGITS = 9
LEVEL = 95


class Agreement(NamedTuple):
    """Kendall's tau-b, and the middle 95 % of its values on resampled queries.

    Resampling adds noise to both rankings, and noise only reduces agreement: the interval is lower
    than one around the true value, and *tau* may even be above it.
    """

    tau: float
    low: float
    high: float


def means(side: Side) -> Scores:
    """Return the score of each engine."""
    return np.asarray(np.mean([table.mean(axis=1) for table in side], axis=0))


def resampled(side: Side, draws: int, rng: np.random.Generator) -> Scores:
    """Return ``[draw, engine]``, the scores on queries drawn anew within each repository."""
    total = np.zeros((draws, len(side[0])))
    for table in side:
        size = table.shape[1]
        counts = rng.multinomial(size, np.full(size, 1 / size), size=draws)
        total += counts @ table.T / size
    return total / len(side)


def tau(first: Scores, second: Scores) -> Scores:
    """Return Kendall's tau-b between the last axes; NaN where a side ties all engines.

    >>> float(tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).round(3))
    0.333
    """
    one, other = _signs(first), _signs(second)
    untied = (one != 0).sum(axis=-1) * (other != 0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray((one * other).sum(axis=-1) / np.sqrt(untied))


def agreement(first: Side, second: Side, *, draws: int, seed: int) -> Agreement:
    """Return how alike the two sides rank; queries are drawn independently of each other."""
    rng = np.random.default_rng(seed)
    spread = tau(resampled(first, draws, rng), resampled(second, draws, rng))
    tail = (100 - LEVEL) / 2
    low, high = np.nanpercentile(spread, [tail, 100 - tail])
    return Agreement(float(tau(means(first), means(second))), float(low), float(high))


class Halves(NamedTuple):
    """Mean tau of one half of a side's queries with the other half, and with the other side."""

    itself: float
    other: float


def halves(side: Side, other: Side, *, draws: int, seed: int) -> Halves:
    """Return how well random halves of *side* agree: the limit that its noise sets."""
    rng = np.random.default_rng(seed)
    within, across = [], []
    whole = means(other)
    for _ in range(draws):
        orders = [rng.permutation(table.shape[1]) for table in side]
        parts = [
            [table[:, order[start::2]] for table, order in zip(side, orders, strict=True)]
            for start in (0, 1)
        ]
        one, two = map(means, parts)
        within.append(tau(one, two))
        across.append(tau(one, whole))
    return Halves(float(np.nanmean(within)), float(np.nanmean(across)))


class Settled(NamedTuple):
    """Of the pairs of engines that differ on one side, how many have the same order on the other.

    *against* counts those that differ on the other side too, in the opposite order.
    """

    pairs: int
    alike: int
    against: int


def settled(judge: Side, other: Side, *, draws: int, seed: int) -> Settled:
    """Return how *other* orders the pairs that differ on *judge*.

    Two engines differ if the middle 95 % of their resampled differences exclude 0, uncorrected.
    """
    rng = np.random.default_rng(seed)
    sure, doubted = (_sure(resampled(side, draws, rng)) for side in (judge, other))
    told = sure != 0
    order = _signs(means(other))
    return Settled(
        int(told.sum()),
        int((told & (order == sure)).sum()),
        int((told & (doubted == -sure)).sum()),
    )


def _signs(scores: Scores) -> Scores:
    first, second = np.triu_indices(scores.shape[-1], k=1)
    return np.sign(np.round(scores[..., first] - scores[..., second], DIGITS))


def _sure(scores: Scores) -> Scores:
    """Return for each pair 1 or -1 where its sign is beyond the noise, 0 elsewhere."""
    first, second = np.triu_indices(scores.shape[-1], k=1)
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(scores[:, first] - scores[:, second], [tail, 100 - tail], axis=0)
    return np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0))
