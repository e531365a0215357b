"""Average precision inferred from a pool that was only judged in part."""

from karat.metrics.measure import Metric
from karat.model import JudgedQuery

__all__ = ["INF_AP", "inf_ap"]

# Keeps the share of relevant hits defined where nothing above was judged (Yilmaz and Aslam 2006).
SMOOTHING = 0.00001


def inf_ap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the average precision that the judged part of the pool leads one to expect.

    A grade below 0 is in the pool and not judged; a hit without a grade is outside the pool and
    takes the place of a non-relevant one.

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
    definition="Average precision estimated where only a sample of the pool was judged; a grade "
    "below 0 marks a pooled hit without a judgment (trec_eval's infAP).",
    formula="1/R sum over relevant ranks i of (1 + pooled above i * relevant share of the judged "
    "above i) / i, the share smoothed by 0.00001",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"padding", "zero"}),
)
