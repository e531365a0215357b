"""Averages over queries that penalise failed queries: geometric mean and log-odds."""

from math import inf, log

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.precision import ap
from karat.scoring.metrics.unjudged import bpref

__all__ = ["GM_AP", "GM_BPREF", "YAAP", "yaap"]


def yaap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the log-odds of average precision, smoothed by one success and one failure.

    >>> yaap(JudgedQuery([1], [1], ideal=[1], retrieved=1)) == log(2)
    True
    """
    total = judged.relevant_count(level)
    precisions = sum(found / rank for found, rank in enumerate(judged.relevant(level), 1))
    return log((1.0 + precisions) / (1.0 + total - precisions))


GM_AP = Metric(
    "gm-ap",
    ap,
    definition="Geometric mean of average precision; emphasises failed queries.",
    formula="exp(mean of ln(max(AP, 0.00001)))",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    average="geometric",
    expected_ties=True,
)

GM_BPREF = Metric(
    "gm-bpref",
    bpref,
    definition="Geometric mean of bpref.",
    formula="exp(mean of ln(max(bpref, 0.00001)))",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    average="geometric",
    expected_ties=True,
)

YAAP = Metric(
    "yaap",
    yaap,
    definition="Average precision as smoothed log-odds.",
    formula="ln((1 + S) / (1 + R - S)), S the sum of precisions at relevant ranks, R all relevant",
    cut="none",
    params={"level": 0.0},
    low=-inf,
    high=inf,
    laws=frozenset({"ideal", "padding", "promotion"}),
)
