"""Precision, recall, average precision, reciprocal rank, and measures of unjudged hits."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import count
from math import comb
from operator import truediv

from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric
from karat.scoring.metrics.measure import TieGroup, groups, hits_within
from karat.scoring.metrics.sets import harmonic_mean

BY_RANK = frozenset({"ideal", "padding", "promotion", "zero"})


@metric(
    "Relevant share of the first k hits.",
    formula="relevant hits in the first k / k",
    laws=BY_RANK,
    expected_ties=True,
    budgets=True,
)
def precision(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the relevant share of the first *k*; a shorter list is padded with misses.

    >>> precision(JudgedQuery([2, 3], [2, 1], ideal=[2, 1], retrieved=3), 5)
    0.4
    """
    if judged.spans is None:
        return bisect_right(judged.relevant(level), k) / k
    return hits_within(judged, k, level) / k


@metric(
    "Share of relevant targets found in the first k hits.",
    formula="targets found in the first k / relevant targets",
    laws=BY_RANK,
    expected_ties=True,
    budgets=True,
)
def recall(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return the share of the relevant targets found within rank *k*.

    >>> recall(JudgedQuery([2, 8], [2, 1], ideal=[2, 1], retrieved=9), 5)
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    if judged.spans is None:
        ranks = judged.found(level)
        return (len(ranks) if k is None else bisect_right(ranks, k)) / total
    return hits_within(judged, k, level) / total


@metric(
    "Accuracy: whether all relevant targets are among the first k hits.",
    formula="1 if recall@k is 1, else 0",
    laws=BY_RANK,
    budgets=True,
)
def acc(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return 1 if all relevant targets are found within rank *k*, otherwise 0.

    >>> acc(JudgedQuery([2, 8], [2, 1], ideal=[2, 1], retrieved=9), 5)
    0.0
    """
    ranks = judged.found(level)
    total = judged.relevant_count(level)
    return float(0 < total == (len(ranks) if k is None else bisect_right(ranks, k)))


@metric(
    "Harmonic mean of precision and recall at k.",
    formula="2 P R / (P + R), 0 where both are 0",
    laws=BY_RANK,
    expected_ties=True,
    budgets=True,
)
def f1(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the harmonic mean of precision and recall at *k*.

    >>> round(f1(JudgedQuery([1], [1], ideal=[1, 1], retrieved=3), 2), 2)
    0.5
    """
    if judged.spans is not None:
        # Both have the same numerator, so the mean over orders is again linear in it.
        total = k + judged.relevant_count(level)
        return 2.0 * hits_within(judged, k, level) / total
    return harmonic_mean(precision(judged, k, level=level), recall(judged, k, level=level))


@metric(
    "Precision at R, the number of relevant targets.",
    formula="relevant hits in the first R / R",
    laws=BY_RANK,
    expected_ties=True,
)
def r_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return precision at R, the number of relevant targets.

    >>> r_precision(JudgedQuery([1, 9], [1, 1], ideal=[1, 1], retrieved=9))
    0.5
    """
    total = judged.relevant_count(level)
    return precision(judged, total, level=level) if total else 0.0


@metric(
    "Precision averaged over the ranks of relevant hits.",
    formula="sum of P@i over relevant ranks i <= k / relevant targets",
    laws=BY_RANK,
    expected_ties=True,
    budgets=True,
)
def ap(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return the mean precision at the ranks of the relevant hits, over all relevant targets.

    >>> round(ap(JudgedQuery([1, 3], [1, 1], ideal=[1, 1, 1], retrieved=9)), 4)
    0.5556
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    if judged.spans is not None:
        return _expected_precision_sum(judged, k, level) / total
    ranks = judged.relevant(level)
    if k is not None:
        ranks = ranks[: bisect_right(ranks, k)]
    precisions: Iterator[float] = map(truediv, count(1), ranks)
    return sum(precisions) / total


def _expected_precision_sum(judged: JudgedQuery, k: int | None, level: float) -> float:
    """Return the expected sum of precisions at relevant ranks over all orders of the tied hits.

    With r relevant among g tied hits, each position is relevant with probability r/g, and then the
    g-1 other positions share the r-1 other relevant hits evenly.
    """
    score = 0.0
    earlier = 0
    for tie in groups(judged):
        before, size, _ = tie
        relevant = tie.relevant(level)
        if not relevant:
            continue
        share = (relevant - 1) / (size - 1) if size > 1 else 0.0
        for position in range(1, size + 1):
            if k is not None and before + position > k:
                break
            score += relevant / size * (earlier + 1 + (position - 1) * share) / (before + position)
        earlier += relevant
    return score


@metric(
    "Reciprocal rank of the first relevant hit.",
    formula="1 / rank of the first relevant hit, or 0",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
)
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
    # The first of r relevant hits among g tied ones stands at position j in C(g-j, r-1) of C(g, r).
    ways = comb(tie.size, relevant)
    last = tie.size - relevant + 1
    return sum(
        comb(tie.size - position, relevant - 1) / ways / (tie.before + position)
        for position in range(1, last + 1)
        if k is None or tie.before + position <= k
    )


@metric(
    "Whether a relevant hit is among the first k.",
    formula="1 if a relevant hit has rank <= k, else 0",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
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


@metric(
    "How rarely judged non-relevant hits rank above relevant ones.",
    formula="1/R sum over relevant hits of 1 - min(non-relevant above, R) / min(R, N)",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
)
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


@metric(
    "Judged share of the first k hits.",
    name="judged",
    formula="judged hits / hits, in the first k",
    expected_ties=True,
)
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
