"""Counts that other measures are computed from. They add up over the queries."""

from math import inf

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric

__all__ = ["NUM_NONREL_JUDGED_RET", "NUM_Q", "NUM_REL", "NUM_REL_RET", "NUM_RET", "relstring"]


def num_q(_judged: JudgedQuery) -> float:
    """Return 1: each query counts once.

    >>> num_q(JudgedQuery([], [], ideal=[1], retrieved=0))
    1.0
    """
    return 1.0


def num_ret(judged: JudgedQuery) -> float:
    """Return the number of hits.

    >>> num_ret(JudgedQuery([2], [1], ideal=[1], retrieved=5))
    5.0
    """
    return float(judged.retrieved)


def num_rel(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of relevant targets, found or not.

    >>> num_rel(JudgedQuery([2], [1], ideal=[1, 1, 0], retrieved=5))
    2.0
    """
    return float(judged.relevant_count(level))


def num_rel_ret(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of relevant hits.

    >>> num_rel_ret(JudgedQuery([2], [1], ideal=[1, 1, 0], retrieved=5))
    1.0
    """
    return float(len(judged.relevant(level)))


def num_nonrel_judged_ret(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of hits that are judged and not relevant; a grade below 0 is unjudged.

    >>> num_nonrel_judged_ret(JudgedQuery([1, 2, 3], [1, 0, -1], ideal=[1, 0, -1], retrieved=5))
    1.0
    """
    return float(sum(grade >= 0 for grade in judged.grades) - len(judged.relevant(level)))


NUM_Q = Metric(
    "num-q",
    num_q,
    definition="Number of queries.",
    formula="1 per query, summed",
    cut="none",
    laws=frozenset({"ideal", "padding", "promotion"}),
    average="sum",
    expected_ties=True,
)

NUM_RET = Metric(
    "num-ret",
    num_ret,
    definition="Number of hits.",
    formula="hits, summed",
    cut="none",
    high=inf,
    laws=frozenset({"ideal", "promotion"}),
    average="sum",
    expected_ties=True,
)

NUM_REL = Metric(
    "num-rel",
    num_rel,
    definition="Number of relevant targets.",
    formula="relevant targets, summed",
    cut="none",
    params={"level": 0.0},
    high=inf,
    laws=frozenset({"ideal", "padding", "promotion"}),
    average="sum",
    expected_ties=True,
)

NUM_REL_RET = Metric(
    "num-rel-ret",
    num_rel_ret,
    definition="Number of relevant hits.",
    formula="relevant hits, summed",
    cut="none",
    params={"level": 0.0},
    high=inf,
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    average="sum",
    expected_ties=True,
)

NUM_NONREL_JUDGED_RET = Metric(
    "num-nonrel-judged-ret",
    num_nonrel_judged_ret,
    definition="Number of judged, non-relevant hits.",
    formula="judged, non-relevant hits, summed",
    cut="none",
    params={"level": 0.0},
    high=inf,
    laws=frozenset({"ideal", "padding", "promotion"}),
    average="sum",
    higher_is_better=False,
    expected_ties=True,
)


def relstring(judged: JudgedQuery, length: int = 10) -> str:
    """Return one character per hit: its grade, ``>`` above 9, ``.`` pooled only, ``-`` unknown.

    >>> relstring(JudgedQuery([1, 3, 4], [2, -1, 10], ideal=[10, 2, -1], retrieved=5))
    '2-.>-'
    """
    shown = ["-"] * max(0, min(length, judged.retrieved))
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if rank > len(shown):
            break
        shown[rank - 1] = ">" if grade > 9 else "." if grade < 0 else str(int(grade))
    return "".join(shown)
