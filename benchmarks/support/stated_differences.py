"""How often the verdict finds a difference of the size that a comparison calls detectable."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from score_shapes import gain, inverse

from karat.model.comparison import Comparison
from karat.scoring.stats import compare

Scores = NDArray[np.float64]


def hit(ranks: Scores) -> Scores:
    """Return hit@5."""
    return (ranks <= 5).astype(np.float64)


# The measure of ranks, and how easy queries are: hard ones leave room for large differences.
KINDS: dict[str, tuple[Callable[[Scores], Scores], float]] = {
    "nDCG@10": (gain, 0.0),
    "RR@10": (inverse, 0.0),
    "hit@5": (hit, 0.0),
    "hit@5, hard queries": (hit, -2.0),
}
# Latent gains of the better run, and how many queries give the true difference of each.
GAINS = np.linspace(0.0, 6.0, 61)
MANY = 400_000
ROUNDS, TRIALS = 3, 300


class Found(NamedTuple):
    """The true difference, the mean of the stated ones, and the share of the pairs that is found.

    *unstated* is the share of the pairs for which no difference is called detectable.
    """

    true: float
    stated: float
    share: float
    pairs: int
    unstated: float


def runs(kind: str, systems: int, n: int, better: float, rng: np.random.Generator) -> Scores:
    """Return ``[system, query, 1]`` scores of equal runs but for the last one."""
    measure, ease = KINDS[kind]
    latent = rng.normal(ease, 1.0, n) + rng.normal(0.0, 0.8, (systems, n))
    latent[-1] += better
    return measure(np.ceil(np.exp(1.2 - 1.3 * latent)))[:, :, None]


@cache
def true_differences(kind: str) -> Scores:
    """Return how much better the last run is on average for each of the gains."""
    # The same queries for every gain, so that the differences rise smoothly.
    means = [
        runs(kind, 2, MANY, better, np.random.default_rng(1))[:, :, 0].mean(axis=1)
        for better in GAINS
    ]
    return np.array([other - one for one, other in means])


def compared(scores: Scores, draws: int, rng: np.random.Generator) -> Comparison:
    """Return the comparison of all pairs."""
    return compare(
        scores,
        systems=[f"s{place}" for place in range(len(scores))],
        metrics=["m"],
        bounds=(0, 1),
        draws=draws,
        seed=int(rng.integers(2**31)),
    )


def found_at_stated(
    kind: str, systems: int, n: int, count: int, rng: np.random.Generator
) -> Found | None:
    """Return how often a run is found that is better by the difference that its own data state.

    *count* comparisons. None if most pairs have no such difference.
    """
    best = f"s{systems - 1}"
    truths = true_differences(kind)

    def pairs(better: float, number: int, draws: int) -> list[tuple[float | None, bool]]:
        """Return what each pair with the better run states, and whether the run is found."""
        result = []
        for _ in range(number):
            found = compared(runs(kind, systems, n, better, rng), draws, rng)
            result += [
                (entry.detectable, entry.is_significant and found.winner(entry) == best)
                for entry in found.differences
                if best in (entry.baseline, entry.system)
            ]
        return result

    better = 0.5
    for _ in range(ROUNDS):
        tried = [stated for stated, _ in pairs(better, max(20, TRIALS // systems), 499)]
        known = [stated for stated in tried if stated is not None]
        if 2 * len(known) < len(tried):
            return None
        better = float(np.interp(np.mean(known), truths, GAINS))
    final = pairs(better, count, 999)
    known = [stated for stated, _ in final if stated is not None]
    share = float(np.mean([is_found for _, is_found in final]))
    true = float(np.interp(better, GAINS, truths))
    return Found(true, float(np.mean(known)), share, len(final), 1 - len(known) / len(final))
