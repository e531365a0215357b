"""Metrics for incomplete judgments."""

from bisect import bisect_right

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import groups

__all__ = ["BPREF", "JUDGED", "bpref", "judged_share"]


def bpref(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return how rarely a judged non-relevant hit stands above a relevant one.

    Unjudged hits are ignored, and so are grades below 0 (pooled but unjudged). A hit that repeats a
    target counts as non-relevant, up to the number of non-relevant judgments.

    >>> bpref(JudgedQuery([1, 2, 3], [1, 0, 1], ideal=[1, 1, 0, 0], retrieved=3))
    0.75
    """
    relevant_total = judged.relevant_count(level)
    if not relevant_total:
        return 0.0
    judged_total = sum(grade >= 0 for grade in judged.ideal)
    bound = min(relevant_total, judged_total - relevant_total)
    score = 0.0
    above = 0
    for tie in groups(judged):
        relevant = tie.relevant(level)
        others = sum(grade >= 0 for grade in tie.grades) - relevant
        # Any number of the tied non-relevant hits, from none to all, is equally likely above.
        chances = [
            1.0 - min(above + ahead, bound) / bound if bound else 1.0 for ahead in range(others + 1)
        ]
        score += relevant * sum(chances) / len(chances)
        above += others
    return score / relevant_total


def judged_share(judged: JudgedQuery, k: int | None = None) -> float:
    """Return the judged share of the first *k* returned hits; 0 if there are none.

    >>> judged_share(JudgedQuery([1, 4], [1, 0], ideal=[1, 0], retrieved=9), 5)
    0.4
    """
    depth = judged.retrieved if k is None else min(k, judged.retrieved)
    if not depth:
        return 0.0
    if judged.spans is None:
        return bisect_right(judged.ranks, depth) / depth
    ties = groups(judged)
    return sum(len(tie.grades) * tie.within(depth) / tie.size for tie in ties) / depth


BPREF = Metric(
    "bpref",
    bpref,
    definition="How rarely judged non-relevant hits rank above relevant ones.",
    formula="1/R sum over relevant hits of 1 - min(non-relevant above, R) / min(R, N)",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

JUDGED = Metric(
    "judged",
    judged_share,
    definition="Judged share of the first k hits.",
    formula="judged hits / hits, in the first k",
    expected_ties=True,
)
