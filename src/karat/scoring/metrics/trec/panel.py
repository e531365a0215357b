"""Metrics averaged over the judges of a query."""

from collections.abc import Sequence

from karat.model import JudgedQuery
from karat.model.preferences import PanelQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.precision import ap, precision
from karat.scoring.metrics.trec.precision import r_precision_mult

__all__ = ["AP_AVGJG", "PRECISION_AVGJG", "R_PRECISION_MULT_AVGJG"]


def _judges(judged: JudgedQuery) -> Sequence[JudgedQuery]:
    """Return the query once per judge; plain judgments have one judge."""
    return judged.judges if isinstance(judged, PanelQuery) else (judged,)


def ap_avgjg(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return average precision, averaged over judges.

    >>> ap_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2))
    0.5
    """
    judges = _judges(judged)
    return sum(ap(judge, level=level) for judge in judges) / len(judges)


def precision_avgjg(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return precision at *k*, averaged over judges.

    >>> precision_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2), 5)
    0.2
    """
    judges = _judges(judged)
    return sum(precision(judge, k, level=level) for judge in judges) / len(judges)


def r_precision_mult_avgjg(judged: JudgedQuery, *, times: float = 1.0, level: float = 0.0) -> float:
    """Return precision at *times* R, R each judge's own, averaged over judges.

    >>> r_precision_mult_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2), times=2)
    0.5
    """
    judges = _judges(judged)
    values = [r_precision_mult(judge, times=times, level=level) for judge in judges]
    return sum(values) / len(judges)


LAWS = frozenset({"ideal", "padding", "promotion", "zero"})

AP_AVGJG = Metric(
    "ap-avgjg",
    ap_avgjg,
    definition="Average precision, averaged over judges.",
    formula="mean over judges of AP",
    cut="none",
    params={"level": 0.0},
    laws=LAWS,
    expected_ties=True,
)

PRECISION_AVGJG = Metric(
    "precision-avgjg",
    precision_avgjg,
    definition="Precision at k, averaged over judges.",
    formula="mean over judges of P@k",
    cut="required",
    params={"level": 0.0},
    laws=LAWS,
    expected_ties=True,
)

R_PRECISION_MULT_AVGJG = Metric(
    "r-precision-mult-avgjg",
    r_precision_mult_avgjg,
    definition="Precision at a multiple of R, averaged over judges.",
    formula="mean over judges of r-precision-mult, R each judge's own",
    cut="none",
    params={"times": 1.0, "level": 0.0},
    laws=LAWS,
    expected_ties=True,
)
