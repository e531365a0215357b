"""nDCG averaged over the ranks where it means something, and the ideal gain itself."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, count, pairwise
from math import inf

from karat.metrics.gain import discount
from karat.metrics.measure import Metric
from karat.metrics.trec.levels import gains_of
from karat.model import JudgedQuery

__all__ = ["IDEAL_DCG", "NDCG_REL", "R_NDCG", "ideal_gain", "ndcg_rel", "r_ndcg"]


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

    Where more than one hit stands beyond the ideal ranking, the whole list is one more point. The
    *level* only says when there is nothing to find: 0 without a target of that grade.

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
    definition="The discounted gain that the best possible ranking would have.",
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
    definition="nDCG averaged over the targets, each at the rank where it is found; one that is "
    "not found counts with the nDCG of the whole list (trec_eval's ndcg_rel).",
    formula="1/R sum over targets of DCG@i / IDCG@i, i the target's rank or the end of the list",
    cut="none",
    params={"gain": "linear"},
    laws=frozenset({"padding", "zero"}),
)

R_NDCG = Metric(
    "r-ndcg",
    r_ndcg,
    definition="nDCG averaged over the ranks where the best possible ranking goes from one gain "
    "to the next, and the end of a list that is longer (trec_eval's Rndcg).",
    formula="mean of DCG@c / IDCG@c over the cumulated sizes c of the positive gain levels, and "
    "over all hits if more than R + 1; 0 if nothing is relevant at the level",
    cut="none",
    params={"gain": "linear", "level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
)
