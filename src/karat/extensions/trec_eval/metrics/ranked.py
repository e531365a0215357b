"""Measures of trec_eval over a ranking: fitted, interpolated and inferred precision, and gain."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, count, pairwise, repeat
from math import floor, inf, isfinite, log, log2, nan
from operator import mul
from typing import NamedTuple

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric
from karat.scoring.metrics.gain import check_chance, discount, gain_function
from karat.scoring.metrics.measure import groups, hits_within, mean_weight
from karat.scoring.metrics.precision_recall import ap, bpref


@metric(
    "Precision at k relative to the best possible.",
    formula="relevant hits in the first k / min(k, R)",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
)
def relative_precision(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the relevant hits among the first *k*, relative to the possible maximum.

    >>> relative_precision(JudgedQuery([2], [1], ideal=[1, 1], retrieved=5), 5)
    0.5
    """
    total = judged.relevant_count(level)
    return hits_within(judged, k, level) / min(k, total) if total else 0.0


@metric(
    "Precision at a multiple of R, the number of relevant targets.",
    formula="relevant hits in the first c / c, c = floor(times R + 0.9)",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
)
def r_precision_mult(judged: JudgedQuery, *, times: float = 1.0, level: float = 0.0) -> float:
    """Return precision at *times* R, rounded up from a tenth on; 0 if that is not a rank.

    >>> r_precision_mult(JudgedQuery([1], [1], ideal=[1, 1], retrieved=5), times=2)
    0.25
    """
    rank = int(times * judged.relevant_count(level) + 0.9)
    return hits_within(judged, rank, level) / rank if rank > 0 else 0.0


LAST_TO_ROUND_UP = 9.0


@metric(
    "Best precision at or beyond a recall point; version=9 rounds the point as trec_eval 9 does.",
    formula="max over ranks i with recall(i) >= recall of P@i, 0 if there is none",
    laws={"ideal", "padding", "promotion", "zero"},
)
def iprec(
    judged: JudgedQuery, *, recall: float = 0.0, level: float = 0.0, version: float = 10.0
) -> float:
    """Return the best precision at or beyond *recall*, 0 if that recall is never reached.

    The recall point is a whole number of targets: rounded to the nearest as in trec_eval 10, or up
    from a tenth on as in trec_eval up to *version* 9.

    >>> iprec(JudgedQuery([2, 3], [1, 1], ideal=[1, 1], retrieved=3), recall=0.1) == 2 / 3
    True
    """
    return _at(_interpolated(judged, level), recall, judged.relevant_count(level), version)


@metric(
    "Interpolated precision averaged over recall points.",
    name="11pt-avg",
    formula="mean of iprec over recall 0, 0.1, ... 1",
    laws={"ideal", "padding", "promotion", "zero"},
)
def eleven_points(
    judged: JudgedQuery,
    *,
    points: str = "0/0.1/0.2/0.3/0.4/0.5/0.6/0.7/0.8/0.9/1",
    level: float = 0.0,
    version: float = 10.0,
) -> float:
    """Return the mean of :func:`iprec` over recall *points*, written ``0.2/0.5/0.8``.

    >>> eleven_points(JudgedQuery([1, 4], [1, 1], ideal=[1, 1], retrieved=4), points="0/1")
    0.75
    """
    total = judged.relevant_count(level)
    best = _interpolated(judged, level)
    recalls = _points(points)
    return sum(_at(best, point, total, version) for point in recalls) / len(recalls)


def _interpolated(judged: JudgedQuery, level: float) -> list[float]:
    """Return entry j: the best precision from the j-th relevant hit on; entry 0 is the best."""
    ranks = judged.relevant(level)
    best = 0.0
    values = []
    for hits in range(len(ranks), 0, -1):
        best = max(best, hits / ranks[hits - 1])
        values.append(best)
    return [best, *reversed(values)]


def _at(best: Sequence[float], recall: float, total: int, version: float) -> float:
    needed = recall * total
    if version <= LAST_TO_ROUND_UP:
        entry = int(needed + 0.9)
    else:
        entry = floor(needed)
        entry += needed - entry >= 0.5
    return best[max(entry, 0)] if entry < len(best) else 0.0


@lru_cache(maxsize=32)
def _points(text: str) -> tuple[float, ...]:
    try:
        points = tuple(map(float, text.split("/")))
    except ValueError:
        points = (nan,)
    if not all(map(isfinite, points)):
        raise InputError(
            f"points {text!r} are not recall points; expected a value such as 0.2/0.5/0.8"
        )
    return points


# Defines the share of relevant hits if nothing above was judged (Yilmaz and Aslam 2006).
SMOOTHING = 0.00001


@metric(
    "Average precision estimated from a judged sample of the pool; a grade "
    "below 0 marks a pooled, unjudged hit.",
    formula="1/R sum over relevant ranks i of (1 + pooled above i * relevant share of the judged "
    "above i) / i, the share smoothed by 0.00001",
    laws={"padding", "zero"},
)
def inf_ap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the average precision estimated from the judged part of the pool.

    A hit with a grade below 0 is in the pool but unjudged; a hit without a grade is outside the
    pool and counts as non-relevant.

    >>> round(inf_ap(JudgedQuery([1, 3], [-1, 1], ideal=[1, -1], retrieved=3)), 4)
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    relevant = others = unjudged = 0
    score = 0.0
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if grade < 0:
            unjudged += 1
        elif grade == 0 or grade < level:
            others += 1
        else:
            pooled = relevant + others + unjudged
            share = (relevant + SMOOTHING) / (relevant + others + 2 * SMOOTHING)
            score += (1.0 + pooled * share) / rank
            relevant += 1
    return score / total


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


@metric(
    "DCG of the ideal ranking.",
    name="ideal-dcg",
    formula="sum over the judgments in descending order of gain_i / log2(i + 1)",
    high=inf,
    laws={"ideal", "padding", "promotion"},
    expected_ties=True,
)
def ideal_gain(judged: JudgedQuery, *, gain: str = "linear") -> float:
    """Return the discounted gain of all judgments in the best order.

    >>> ideal_gain(JudgedQuery([], [], ideal=[1, 0], retrieved=0))
    1.0
    """
    return _ideal_sums(gains_of(judged, gain).ideal)[-1]


@metric(
    "nDCG averaged over targets, each at its rank; a target that is not found "
    "has the nDCG of the whole list.",
    formula="1/R sum over targets of DCG@i / IDCG@i, i the target's rank or the end of the list",
    laws={"padding", "zero"},
)
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


@metric(
    "nDCG averaged over the ranks where the ideal gain changes, and the end of a longer list.",
    formula="mean of DCG@c / IDCG@c over the cumulated sizes c of the positive gain levels, and "
    "over all hits if more than R + 1; 0 if nothing is relevant at the level",
    laws={"ideal", "promotion", "zero"},
)
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


@metric(
    "Gain, each hit discounted by the gain missed so far.",
    name="g",
    formula="sum over hits of gain_i / log2(2 + cost_i - gained_i) / all gain; cost_i "
    "the ideal gain up to rank i, at least 1 per rank, gained_i the list's",
    laws={"padding", "zero"},
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


@metric(
    "G with binary relevance.",
    formula="1/R sum over relevant hits of 1 / log2(2 + non-relevant hits above)",
    laws={"ideal", "padding", "promotion", "zero"},
)
def bin_g(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the relevant hits, each discounted by the hits above it that are not relevant.

    >>> bin_g(JudgedQuery([3], [1], ideal=[1], retrieved=3))
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    ranks = judged.relevant(level)
    return sum(1.0 / log2(2 + rank - hits) for hits, rank in enumerate(ranks, 1)) / total


@metric(
    "Average precision as smoothed log-odds.",
    formula="ln((1 + S) / (1 + R - S)), S the sum of precisions at relevant ranks, R all relevant",
    low=-inf,
    high=inf,
    laws={"ideal", "padding", "promotion"},
)
def yaap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the log-odds of average precision, smoothed by one success and one failure.

    >>> yaap(JudgedQuery([1], [1], ideal=[1], retrieved=1)) == log(2)
    True
    """
    total = judged.relevant_count(level)
    precisions = sum(hits / rank for hits, rank in enumerate(judged.relevant(level), 1))
    return log((1.0 + precisions) / (1.0 + total - precisions))


@metric(
    "Geometric mean of average precision; emphasises failed queries.",
    formula="exp(mean of ln(max(AP, 0.00001)))",
    laws={"ideal", "padding", "promotion", "zero"},
    average="geometric",
    expected_ties=True,
)
def gm_ap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the average precision, whose mean over queries is geometric."""
    return ap(judged, level=level)


@metric(
    "Geometric mean of bpref.",
    formula="exp(mean of ln(max(bpref, 0.00001)))",
    laws={"ideal", "padding", "promotion", "zero"},
    average="geometric",
    expected_ties=True,
)
def gm_bpref(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return bpref, whose mean over queries is geometric."""
    return bpref(judged, level=level)


@lru_cache(maxsize=16)
def _table(p: float, size: int) -> tuple[float, ...]:
    """Return p^0 .. p^size, each computed from the one before, as trec_eval rounds them."""
    return tuple(accumulate(repeat(p, size), mul, initial=1.0))


def _powers(p: float, size: int) -> tuple[float, ...]:
    return _table(p, 1 << size.bit_length())


@metric(
    "Graded rank-biased precision, relative to the query's highest grade above "
    "1. Karat's rbp is binary.",
    formula="(1 - p) sum over ranks i of p^(i - 1) gain_i / max(1, highest gain)",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
)
def rbp_graded(judged: JudgedQuery, *, p: float = 0.9, gain: str = "linear") -> float:
    """Return the gain per hit of a reader who continues with probability *p*.

    Gains are divided by the query's highest gain if that is above 1.

    >>> round(rbp_graded(JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2), p=0.5), 4)
    0.5
    """
    check_chance(p)
    gain_of = gain_function(gain)
    highest = _highest_gain(judged, gain)
    powers = _powers(p, judged.retrieved)
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    return (1.0 - p) * sum(
        gain_of(grade) / highest * mean_weight(first, last, lambda rank: powers[rank - 1], None)
        for (first, last), grade in zip(spans, judged.grades, strict=True)
        if grade >= 0
    )


def _highest_gain(judged: JudgedQuery, gain: str) -> float:
    """Return the highest gain, at least 1.

    Every gain of a table counts, and every level up to the highest grade, whether or not it occurs.
    """
    gain_of = gain_function(gain)
    gains = [1.0, *map(gain_of, judged.ideal)]
    if ":" in gain:
        gains += [float(pair.partition(":")[2]) for pair in gain.split("/")]
        gains += map(gain_of, range(int(max(judged.ideal, default=0))))
    return max(gains)


@metric(
    "How much rank-biased precision would rise if all unjudged hits were relevant.",
    formula="p^n + (1 - p) sum over unjudged ranks i of p^(i - 1), n hits; 0 if all are judged",
    higher_is_better=False,
)
def rbp_residual(judged: JudgedQuery, *, p: float = 0.9) -> float:
    """Return how much rank-biased precision the unjudged hits, and all beyond, could still add.

    As in trec_eval it is 0 if every hit is judged, although ranks beyond the last could add.

    >>> round(rbp_residual(JudgedQuery([1], [1], ideal=[1], retrieved=2), p=0.5), 4)
    0.5
    """
    check_chance(p)
    pairs = zip(judged.ranks, judged.grades, strict=True)
    known = {rank for rank, grade in pairs if grade >= 0}
    if len(known) == judged.retrieved:
        return 0.0
    powers = _powers(p, judged.retrieved)
    unknown = [powers[rank - 1] for rank in range(1, judged.retrieved + 1) if rank not in known]
    return min(powers[judged.retrieved] + (1.0 - p) * sum(unknown), 1.0)


@metric(
    "Unjudged share of the first k ranks; a grade below 0 is unjudged. Karat's "
    "judged divides by the number of hits.",
    formula="unjudged hits in the first k / k",
    higher_is_better=False,
    expected_ties=True,
)
def unjudged(judged: JudgedQuery, k: int) -> float:
    """Return the unjudged hits among the first *k*, over *k*; ranks without a hit do not count.

    >>> unjudged(JudgedQuery([1], [1], ideal=[1], retrieved=3), 5)
    0.4
    """
    known = 0.0
    for tie in groups(judged):
        known += sum(grade >= 0 for grade in tie.grades) * tie.within(k) / tie.size
    return max(0.0, min(k, judged.retrieved) - known) / k
