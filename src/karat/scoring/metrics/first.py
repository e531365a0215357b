"""Metrics that look at the first relevant hit."""

from math import comb

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import TieGroup, groups

__all__ = ["HIT", "MRR", "hit", "mrr"]


def mrr(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return one over the rank of the first relevant hit, 0 where there is none within *k*.

    >>> mrr(JudgedQuery([2, 3], [2, 1], ideal=[2, 1], retrieved=3))
    0.5
    """
    if judged.spans is None:
        ranks = judged.relevant(level)
        return 1.0 / ranks[0] if ranks and (k is None or ranks[0] <= k) else 0.0
    tie, relevant = _first_group(judged, level)
    if tie is None:
        return 0.0
    # The first of r relevant hits among g tied ones stands at place j in C(g-j, r-1) of C(g, r).
    ways = comb(tie.size, relevant)
    last = tie.size - relevant + 1
    return sum(
        comb(tie.size - place, relevant - 1) / ways / (tie.before + place)
        for place in range(1, last + 1)
        if k is None or tie.before + place <= k
    )


def hit(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return 1 if a relevant hit stands within rank *k*, else 0.

    >>> hit(JudgedQuery([6], [1], ideal=[1], retrieved=9), 5)
    0.0
    """
    if judged.spans is None:
        ranks = judged.relevant(level)
        return 1.0 if ranks and (k is None or ranks[0] <= k) else 0.0
    tie, relevant = _first_group(judged, level)
    if tie is None:
        return 0.0
    within = tie.within(k)
    return 1.0 - comb(tie.size - relevant, within) / comb(tie.size, within)


def _first_group(judged: JudgedQuery, level: float) -> tuple[TieGroup | None, int]:
    for tie in groups(judged):
        if relevant := tie.relevant(level):
            return tie, relevant
    return None, 0


MRR = Metric(
    "mrr",
    mrr,
    definition="Reciprocal rank of the first relevant hit.",
    formula="1 / rank of the first relevant hit, or 0",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

HIT = Metric(
    "hit",
    hit,
    definition="Whether a relevant hit is among the first k.",
    formula="1 if a relevant hit has rank <= k, else 0",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)
