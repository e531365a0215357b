"""Rank-biased precision over grades, and what the hits without a judgment could add to it."""

from karat.metrics.gain import gain_function
from karat.metrics.measure import Metric
from karat.metrics.ties import groups, mean_weight
from karat.model import JudgedQuery

__all__ = ["RBP_GRADED", "RBP_RESIDUAL", "UNJUDGED", "rbp_graded", "rbp_residual", "unjudged"]


def rbp_graded(judged: JudgedQuery, *, p: float = 0.9, gain: str = "linear") -> float:
    """Return the gain that a reader who goes on with chance *p* collects per hit read.

    Gains are divided by the query's highest one where that is above 1.

    >>> round(rbp_graded(JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2), p=0.5), 4)
    0.5
    """
    gain_of = gain_function(gain)
    highest = max([1.0, *map(gain_of, judged.ideal)])
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    return (1.0 - p) * sum(
        gain_of(grade) / highest * mean_weight(first, last, lambda rank: p ** (rank - 1), None)
        for (first, last), grade in zip(spans, judged.grades, strict=True)
        if grade >= 0
    )


def rbp_residual(judged: JudgedQuery, *, p: float = 0.9) -> float:
    """Return how much rank-biased precision the unjudged hits, and all beyond, could still add.

    As in trec_eval it is 0 where every hit is judged, although ranks beyond the last could add.

    >>> round(rbp_residual(JudgedQuery([1], [1], ideal=[1], retrieved=2), p=0.5), 4)
    0.5
    """
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    known = [span for span, grade in zip(spans, judged.grades, strict=True) if grade >= 0]
    if len(known) == judged.retrieved:
        return 0.0
    weights = (mean_weight(*span, lambda rank: p ** (rank - 1), None) for span in known)
    return max(0.0, 1.0 - (1.0 - p) * sum(weights))


def unjudged(judged: JudgedQuery, k: int) -> float:
    """Return the unjudged hits among the first *k*, over *k*; ranks without a hit do not count.

    >>> unjudged(JudgedQuery([1], [1], ideal=[1], retrieved=3), 5)
    0.4
    """
    known = 0.0
    for tie in groups(judged):
        known += sum(grade >= 0 for grade in tie.grades) * tie.within(k) / tie.size
    return max(0.0, min(k, judged.retrieved) - known) / k


RBP_GRADED = Metric(
    "rbp-graded",
    rbp_graded,
    definition="Rank-biased precision as trec_eval has it: grades count, relative to the query's "
    "highest where that is above 1, and p is 0.9. Karat's rbp counts a hit as relevant or not.",
    formula="(1 - p) sum over ranks i of p^(i - 1) gain_i / max(1, highest gain)",
    cut="none",
    params={"p": 0.9, "gain": "linear"},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

RBP_RESIDUAL = Metric(
    "rbp-residual",
    rbp_residual,
    definition="How much rank-biased precision could still rise if all unjudged hits were "
    "relevant (trec_eval's rbp_resid).",
    formula="1 - (1 - p) sum over judged ranks i of p^(i - 1); 0 if every hit is judged",
    cut="none",
    params={"p": 0.9},
    higher_is_better=False,
    expected_ties=True,
)

UNJUDGED = Metric(
    "unjudged",
    unjudged,
    definition="The share of the first k ranks that holds a hit without a judgment (trec_eval's "
    "unj); a grade below 0 is no judgment. Karat's judged divides by the hits that there are.",
    formula="hits among the first k without a judgment / k",
    cut="required",
    higher_is_better=False,
    expected_ties=True,
)
