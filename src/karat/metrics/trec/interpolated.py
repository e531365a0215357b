"""Precision at recall points, interpolated: the classical recall-precision graph."""

from collections.abc import Sequence
from functools import lru_cache
from math import floor, isfinite, nan

from karat.errors import InputError
from karat.metrics.measure import Metric
from karat.model import JudgedQuery

__all__ = ["ELEVEN_POINTS", "IPREC", "eleven_points", "iprec"]

LAST_TO_ROUND_UP = 9.0


def iprec(
    judged: JudgedQuery, *, recall: float = 0.0, level: float = 0.0, version: float = 10.0
) -> float:
    """Return the best precision at or beyond *recall*, 0 where that recall is never reached.

    The recall point is a whole number of targets: rounded to the nearest as trec_eval 10 does, or
    up from a tenth on as trec_eval up to *version* 9 did.

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
        raise InputError(f"points {text!r} are no recall points; expected 0.2/0.5/0.8")
    return points


IPREC = Metric(
    "iprec",
    iprec,
    definition="The best precision that is reached at or beyond a given recall (trec_eval's "
    "iprec_at_recall); version=9 rounds the recall point as trec_eval up to 9 did.",
    formula="max over ranks i with recall(i) >= recall of P@i, 0 if there is none",
    cut="none",
    params={"recall": 0.0, "level": 0.0, "version": 10.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)

ELEVEN_POINTS = Metric(
    "11pt-avg",
    eleven_points,
    definition="Interpolated precision averaged over recall points, eleven unless others are given "
    "(trec_eval's 11pt_avg).",
    formula="mean of iprec over recall 0, 0.1, ... 1",
    cut="none",
    params={"points": "0/0.1/0.2/0.3/0.4/0.5/0.6/0.7/0.8/0.9/1", "level": 0.0, "version": 10.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
)
