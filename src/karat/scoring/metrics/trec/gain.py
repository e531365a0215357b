"""Gain-based measures of trec_eval: nDCG averaged over ranks, the ideal gain, and G."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, count, pairwise
from math import inf, log2
from typing import NamedTuple

from karat.model import JudgedQuery
from karat.scoring.metrics.gain import discount, gain_function
from karat.scoring.metrics.measure import Metric

__all__ = [
    "BIN_G",
    "IDEAL_DCG",
    "NDCG_REL",
    "R_NDCG",
    "G",
    "Gains",
    "bin_g",
    "gains_of",
    "ideal_gain",
    "ndcg_rel",
    "normalised_gain",
    "r_ndcg",
]


class Gains(NamedTuple):
    """The hits that gain anything, by rank, and the positive gains of all judgments, descending."""

    hits: list[tuple[int, float]]
    ideal: list[float]


def gains_of(judged: JudgedQuery, gain: str) -> Gains:
    """Return the gains of *judged* under the gain rule *gain*.

    >>> gains_of(JudgedQuery([1, 2], [0, 2], ideal=[2, 1, 0], retrieved=3), "1:5")
    Gains(hits=[(2, 2)], ideal=[5.0, 2])
    """
    gain_of = gain_function(gain)
    pairs = zip(judged.ranks, map(gain_of, judged.grades), strict=True)
    ideal = sorted(filter(None, map(gain_of, judged.ideal)), reverse=True)
    return Gains([(rank, value) for rank, value in pairs if value], ideal)


def ideal_gain(judged: JudgedQuery, *, gain: str = "linear") -> float:
    """Return the discounted gain of all judgments in the best order.

    >>> ideal_gain(JudgedQuery([], [], ideal=[1, 0], retrieved=0))
    1.0
    """
    return _ideal_sums(gains_of(judged, gain).ideal)[-1]


def ndcg_rel(judged: JudgedQuery, *, gain: str = "linear") -> float:
    """Return nDCG averaged over the targets, each at the rank where it is found.

    A target that is not found counts with the nDCG of the whole list.

    >>> ndcg_rel(JudgedQuery([1], [1], ideal=[1, 1], retrieved=3)) < 1
    True
    """
    hits, ideal = gains_of(judged, gain)
    if not ideal:
        return 0.0
    sums = _ideal_sums(ideal)
    reached = 0.0
    score = 0.0
    for rank, value in hits:
        reached += value * discount(rank)
        score += reached / sums[min(rank, len(ideal))]
    score += (len(ideal) - len(hits)) * reached / sums[-1]
    return min(score / len(ideal), 1.0)


def r_ndcg(judged: JudgedQuery, *, gain: str = "linear", level: float = 0.0) -> float:
    """Return nDCG averaged over the ranks where the ideal ranking changes its gain.

    If more than one hit is beyond the ideal ranking, the whole list is one more point. *level* only
    decides whether there is anything to find: the score is 0 without a target of that grade.

    >>> r_ndcg(JudgedQuery([2], [1], ideal=[1], retrieved=2))
    0.0
    """
    hits, ideal = gains_of(judged, gain)
    if not ideal or not judged.relevant_count(level):
        return 0.0
    sums = _ideal_sums(ideal)
    ends = [end for end, (now, after) in enumerate(pairwise([*ideal, 0.0]), 1) if now != after]
    if judged.retrieved > len(ideal) + 1:
        ends.append(judged.retrieved)
    ranks = [rank for rank, _ in hits]
    reached = [0.0, *accumulate(value * discount(rank) for rank, value in hits)]
    terms = [reached[bisect_right(ranks, end)] / sums[min(end, len(ideal))] for end in ends]
    return min(sum(terms) / len(terms), 1.0)


def _ideal_sums(ideal: Sequence[float]) -> list[float]:
    """Return entry i: the discounted gain of the best i judgments."""
    gains = (value * discount(rank) for value, rank in zip(ideal, count(1), strict=False))
    return [0.0, *accumulate(gains)]


IDEAL_DCG = Metric(
    "ideal-dcg",
    ideal_gain,
    definition="DCG of the ideal ranking.",
    formula="sum over the judgments in descending order of gain_i / log2(i + 1)",
    cut="none",
    params={"gain": "linear"},
    high=inf,
    laws=frozenset({"ideal", "padding", "promotion"}),
    expected_ties=True,
)

NDCG_REL = Metric(
    "ndcg-rel",
    ndcg_rel,
    definition="nDCG averaged over targets, each at its rank; a target that is not found "
    "has the nDCG of the whole list.",
    formula="1/R sum over targets of DCG@i / IDCG@i, i the target's rank or the end of the list",
    cut="none",
    params={"gain": "linear"},
    laws=frozenset({"padding", "zero"}),
)

R_NDCG = Metric(
    "r-ndcg",
    r_ndcg,
    definition="nDCG averaged over the ranks where the ideal gain changes, and the end of "
    "a longer list.",
    formula="mean of DCG@c / IDCG@c over the cumulated sizes c of the positive gain levels, and "
    "over all hits if more than R + 1; 0 if nothing is relevant at the level",
    cut="none",
    params={"gain": "linear", "level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
)


def normalised_gain(judged: JudgedQuery, *, gain: str = "linear") -> float:
    """Return the gain of each hit, discounted by the gain missed so far, relative to all gain.

    A rank costs at least 1, even if the ideal ranking has less to offer.

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
    definition="Gain, each hit discounted by the gain missed so far.",
    formula="sum over hits of gain_i / log2(2 + cost_i - gained_i) / all gain; cost_i "
    "the ideal gain up to rank i, at least 1 per rank, gained_i the list's",
    cut="none",
    params={"gain": "linear"},
    laws=frozenset({"padding", "zero"}),
)

BIN_G = Metric(
    "bin-g",
    bin_g,
    definition="G with binary relevance.",
    formula="1/R sum over relevant hits of 1 / log2(2 + non-relevant hits above)",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)
