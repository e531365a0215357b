"""Precision-based measures of trec_eval: fitted, interpolated and inferred."""

from collections.abc import Sequence
from functools import lru_cache
from math import floor, isfinite, nan

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import hits_within

__all__ = [
    "ELEVEN_POINTS",
    "INF_AP",
    "IPREC",
    "RELATIVE_PRECISION",
    "R_PRECISION_MULT",
    "eleven_points",
    "inf_ap",
    "iprec",
    "r_precision_mult",
    "relative_precision",
]


def relative_precision(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the relevant hits among the first *k*, relative to the possible maximum.

    >>> relative_precision(JudgedQuery([2], [1], ideal=[1, 1], retrieved=5), 5)
    0.5
    """
    total = judged.relevant_count(level)
    return hits_within(judged, k, level) / min(k, total) if total else 0.0


def r_precision_mult(judged: JudgedQuery, *, times: float = 1.0, level: float = 0.0) -> float:
    """Return precision at *times* R, rounded up from a tenth on; 0 if that is not a rank.

    >>> r_precision_mult(JudgedQuery([1], [1], ideal=[1, 1], retrieved=5), times=2)
    0.25
    """
    rank = int(times * judged.relevant_count(level) + 0.9)
    return hits_within(judged, rank, level) / rank if rank > 0 else 0.0


RELATIVE_PRECISION = Metric(
    "relative-precision",
    relative_precision,
    definition="Precision at k relative to the best possible.",
    formula="relevant hits in the first k / min(k, R)",
    cut="required",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

R_PRECISION_MULT = Metric(
    "r-precision-mult",
    r_precision_mult,
    definition="Precision at a multiple of R, the number of relevant targets.",
    formula="relevant hits in the first c / c, c = floor(times R + 0.9)",
    cut="none",
    params={"times": 1.0, "level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)


LAST_TO_ROUND_UP = 9.0


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
    wanted = _points(points)
    return sum(_at(best, point, total, version) for point in wanted) / len(wanted)


def _interpolated(judged: JudgedQuery, level: float) -> list[float]:
    """Return entry j: the best precision from the j-th relevant hit on; entry 0 is the best."""
    ranks = judged.relevant(level)
    best = 0.0
    values = []
    for found in range(len(ranks), 0, -1):
        best = max(best, found / ranks[found - 1])
        values.append(best)
    return [best, *reversed(values)]


def _at(best: Sequence[float], recall: float, total: int, version: float) -> float:
    wanted = recall * total
    if version <= LAST_TO_ROUND_UP:
        place = int(wanted + 0.9)
    else:
        place = floor(wanted)
        place += wanted - place >= 0.5
    return best[max(place, 0)] if place < len(best) else 0.0


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


IPREC = Metric(
    "iprec",
    iprec,
    definition="Best precision at or beyond a recall point; version=9 rounds the point as "
    "trec_eval 9 does.",
    formula="max over ranks i with recall(i) >= recall of P@i, 0 if there is none",
    cut="none",
    params={"recall": 0.0, "level": 0.0, "version": 10.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)

ELEVEN_POINTS = Metric(
    "11pt-avg",
    eleven_points,
    definition="Interpolated precision averaged over recall points.",
    formula="mean of iprec over recall 0, 0.1, ... 1",
    cut="none",
    params={"points": "0/0.1/0.2/0.3/0.4/0.5/0.6/0.7/0.8/0.9/1", "level": 0.0, "version": 10.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)


# Defines the share of relevant hits if nothing above was judged (Yilmaz and Aslam 2006).
SMOOTHING = 0.00001


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


INF_AP = Metric(
    "inf-ap",
    inf_ap,
    definition="Average precision estimated from a judged sample of the pool; a grade "
    "below 0 marks a pooled, unjudged hit.",
    formula="1/R sum over relevant ranks i of (1 + pooled above i * relevant share of the judged "
    "above i) / i, the share smoothed by 0.00001",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"padding", "zero"}),
)
