"""Precision at a rank that fits the number of relevant targets."""

from karat.metrics.measure import Metric
from karat.metrics.ties import hits_within
from karat.model import JudgedQuery

__all__ = ["RELATIVE_PRECISION", "R_PRECISION_MULT", "r_precision_mult", "relative_precision"]


def relative_precision(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the relevant hits among the first *k*, relative to the most there could be.

    >>> relative_precision(JudgedQuery([2], [1], ideal=[1, 1], retrieved=5), 5)
    0.5
    """
    total = judged.relevant_count(level)
    return hits_within(judged, k, level) / min(k, total) if total else 0.0


def r_precision_mult(judged: JudgedQuery, *, times: float = 1.0, level: float = 0.0) -> float:
    """Return precision at *times* R, rounded up from a tenth on; 0 where that is no rank.

    >>> r_precision_mult(JudgedQuery([1], [1], ideal=[1, 1], retrieved=5), times=2)
    0.25
    """
    rank = int(times * judged.relevant_count(level) + 0.9)
    return hits_within(judged, rank, level) / rank if rank > 0 else 0.0


RELATIVE_PRECISION = Metric(
    "relative-precision",
    relative_precision,
    definition="Precision at k relative to the best that k and the number of relevant targets "
    "allow (trec_eval's relative_P).",
    formula="relevant hits among the first k / min(k, R)",
    cut="required",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

R_PRECISION_MULT = Metric(
    "r-precision-mult",
    r_precision_mult,
    definition="Precision at a multiple of R, the number of relevant targets (trec_eval's "
    "Rprec_mult): small multiples show precision, large ones recall.",
    formula="relevant hits among the first c / c, c = floor(times R + 0.9)",
    cut="none",
    params={"times": 1.0, "level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)
