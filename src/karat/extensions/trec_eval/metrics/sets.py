"""Counts, set measures and multi-judge measures of trec_eval."""

from collections.abc import Sequence
from math import inf

from karat.errors import InputError
from karat.extensions.trec_eval.judged import PanelQuery
from karat.extensions.trec_eval.metrics.ranked import r_precision_mult
from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric
from karat.scoring.metrics.precision_recall import ap, precision
from karat.scoring.metrics.sets import set_precision, set_recall

LAWS = frozenset({"ideal", "padding", "promotion", "zero"})


@metric(
    "Relevant hits relative to the most that a set of this size can have.",
    formula="relevant hits / min(hits, R)",
    laws={"ideal", "promotion", "zero"},
    expected_ties=True,
)
def set_relative_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the relevant hits relative to the maximum for a set of this size.

    >>> set_relative_precision(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.5
    """
    most = min(judged.retrieved, judged.relevant_count(level))
    return len(judged.relevant(level)) / most if most else 0.0


@metric(
    "Set precision times set recall.",
    formula="relevant hits^2 / (hits R)",
    laws={"ideal", "promotion", "zero"},
    expected_ties=True,
)
def set_ap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return set precision times set recall.

    >>> set_ap(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.125
    """
    size = judged.retrieved * judged.relevant_count(level)
    return len(judged.relevant(level)) ** 2 / size if size else 0.0


@metric(
    "Weighted harmonic mean of set precision and set recall; unlike set-f1 it "
    "is 0 if nothing is returned and nothing is relevant.",
    formula="(w + 1) P R / (w P + R), w the weight of recall",
    laws={"ideal", "promotion", "zero"},
    expected_ties=True,
)
def set_f(judged: JudgedQuery, *, weight: float = 1.0, level: float = 0.0) -> float:
    """Return the weighted harmonic mean of set precision and set recall.

    *weight* is the square of the usual beta: above 1 recall counts more.

    >>> round(set_f(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4)), 4)
    0.3333
    """
    if weight < 0.0:
        raise InputError(f"set-f's weight is {weight:g}; expected 0 or more")
    precision = set_precision(judged, level=level)
    recall = set_recall(judged, level=level)
    below = weight * precision + recall
    return (weight + 1.0) * precision * recall / below if below else 0.0


@metric(
    "Weighted sum over found, wrong, missed and spared documents.",
    formula="found a + wrong b + missed c + spared d over the contingency table a, b, c, d of "
    "returned and relevant",
    low=-inf,
    high=inf,
    laws={"ideal", "promotion"},
    expected_ties=True,
)
def utility(
    judged: JudgedQuery,
    *,
    found: float = 1.0,
    wrong: float = -1.0,
    missed: float = 0.0,
    spared: float = 0.0,
    collection: float = 0.0,
    level: float = 0.0,
) -> float:
    """Return the utility of the returned set, with one weight for each of the four outcomes.

    *spared* is the weight of documents that were rightly not returned; it needs the *collection*
    size.

    >>> utility(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    -2.0
    """
    hits = len(judged.relevant(level))
    total = judged.relevant_count(level)
    return (
        found * hits
        + wrong * (judged.retrieved - hits)
        + missed * (total - hits)
        + spared * (collection + hits - judged.retrieved - total)
    )


@metric(
    "Number of queries.",
    formula="1 per query, summed",
    laws={"ideal", "padding", "promotion"},
    average="sum",
    expected_ties=True,
)
def num_q(_judged: JudgedQuery) -> float:
    """Return 1: each query counts once.

    >>> num_q(JudgedQuery([], [], ideal=[1], retrieved=0))
    1.0
    """
    return 1.0


@metric(
    "Number of relevant targets.",
    formula="relevant targets, summed",
    high=inf,
    laws={"ideal", "padding", "promotion"},
    average="sum",
    expected_ties=True,
)
def num_rel(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of relevant targets, found or not.

    >>> num_rel(JudgedQuery([2], [1], ideal=[1, 1, 0], retrieved=5))
    2.0
    """
    return float(judged.relevant_count(level))


@metric(
    "Number of relevant hits.",
    formula="relevant hits, summed",
    high=inf,
    laws={"ideal", "padding", "promotion", "zero"},
    average="sum",
    expected_ties=True,
)
def num_rel_ret(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of relevant hits.

    >>> num_rel_ret(JudgedQuery([2], [1], ideal=[1, 1, 0], retrieved=5))
    1.0
    """
    return float(len(judged.relevant(level)))


@metric(
    "Number of judged, non-relevant hits.",
    formula="judged, non-relevant hits, summed",
    high=inf,
    laws={"ideal", "padding", "promotion"},
    average="sum",
    higher_is_better=False,
    expected_ties=True,
)
def num_nonrel_judged_ret(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the number of hits that are judged and not relevant; a grade below 0 is unjudged.

    >>> num_nonrel_judged_ret(JudgedQuery([1, 2, 3], [1, 0, -1], ideal=[1, 0, -1], retrieved=5))
    1.0
    """
    return float(sum(grade >= 0 for grade in judged.grades) - len(judged.relevant(level)))


def relstring(judged: JudgedQuery, length: int = 10) -> str:
    """Return one character per hit: its grade, ``>`` above 9, ``.`` pooled only, ``-`` unknown.

    >>> relstring(JudgedQuery([1, 3, 4], [2, -1, 10], ideal=[10, 2, -1], retrieved=5))
    '2-.>-'
    """
    signs = ["-"] * max(0, min(length, judged.retrieved))
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if rank > len(signs):
            break
        signs[rank - 1] = ">" if grade > 9 else "." if grade < 0 else str(int(grade))
    return "".join(signs)


def _judges(judged: JudgedQuery) -> Sequence[JudgedQuery]:
    """Return the query once per judge; plain judgments have one judge."""
    return judged.judges if isinstance(judged, PanelQuery) else (judged,)


@metric(
    "Average precision, averaged over judges.",
    formula="mean over judges of AP",
    laws=LAWS,
    expected_ties=True,
)
def ap_avgjg(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return average precision, averaged over judges.

    >>> ap_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2))
    0.5
    """
    judges = _judges(judged)
    return sum(ap(judge, level=level) for judge in judges) / len(judges)


@metric(
    "Precision at k, averaged over judges.",
    formula="mean over judges of P@k",
    laws=LAWS,
    expected_ties=True,
)
def precision_avgjg(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return precision at *k*, averaged over judges.

    >>> precision_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2), 5)
    0.2
    """
    judges = _judges(judged)
    return sum(precision(judge, k, level=level) for judge in judges) / len(judges)


@metric(
    "Precision at a multiple of R, averaged over judges.",
    formula="mean over judges of r-precision-mult, R each judge's own",
    laws=LAWS,
    expected_ties=True,
)
def r_precision_mult_avgjg(judged: JudgedQuery, *, times: float = 1.0, level: float = 0.0) -> float:
    """Return precision at *times* R, R each judge's own, averaged over judges.

    >>> r_precision_mult_avgjg(JudgedQuery([2], [1], ideal=[1], retrieved=2), times=2)
    0.5
    """
    judges = _judges(judged)
    values = [r_precision_mult(judge, times=times, level=level) for judge in judges]
    return sum(values) / len(judges)
