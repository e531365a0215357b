"""G: gain discounted by what was missed above, not by rank."""

from itertools import accumulate
from math import log2

from karat.metrics.measure import Metric
from karat.metrics.trec.levels import gains_of
from karat.model import JudgedQuery

__all__ = ["BIN_G", "G", "bin_g", "normalised_gain"]


def normalised_gain(judged: JudgedQuery, *, gain: str = "linear") -> float:
    """Return the gain of each hit, discounted by the gain missed so far, relative to all gain.

    A rank costs at least 1, also where the ideal ranking has less to offer.

    >>> normalised_gain(JudgedQuery([1], [2], ideal=[2, 2], retrieved=1))
    0.5
    """
    hits, ideal = gains_of(judged, gain)
    if not ideal:
        return 0.0
    costs = [0.0, *accumulate(max(value, 1.0) for value in ideal)]
    gained = 0.0
    score = 0.0
    for rank, value in hits:
        gained += value
        cost = costs[min(rank, len(ideal))] + max(rank - len(ideal), 0)
        # Rounding must not push a perfect ranking past its bound.
        score += value / log2(2.0 + max(cost - gained, 0.0))
    return min(score / sum(ideal), 1.0)


def bin_g(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the relevant hits, each discounted by the hits above it that are not relevant.

    >>> bin_g(JudgedQuery([3], [1], ideal=[1], retrieved=3))
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    ranks = judged.relevant(level)
    return sum(1.0 / log2(2 + rank - found) for found, rank in enumerate(ranks, 1)) / total


G = Metric(
    "g",
    normalised_gain,
    definition="Gain, each hit discounted by how much gain the list has missed so far "
    "(trec_eval's G).",
    formula="sum over hits of gain_i / log2(2 + cost_i - gained_i) / all gain; cost_i the ideal "
    "gain up to rank i, at least 1 per rank, gained_i the list's",
    cut="none",
    params={"gain": "linear"},
    laws=frozenset({"padding", "zero"}),
)

BIN_G = Metric(
    "bin-g",
    bin_g,
    definition="G with a hit relevant or not (trec_eval's binG).",
    formula="1/R sum over relevant hits of 1 / log2(2 + non-relevant hits above)",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)
