"""Measures of diversity: how well the first hits cover the subtopics of a query.

The definitions are those of ndeval, the tool of TREC's diversity tracks: a hit is relevant to a
subtopic or not, and a subtopic that was seen n times before is worth (1 - alpha)^n.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import nan

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.model.judged import Subtopics
from karat.scoring.metrics.definition import metric
from karat.scoring.metrics.gain import discount


@metric(
    "Diversity: gain of new subtopics in the first k hits, relative to the ideal.",
    formula="alpha-DCG@k / ideal, gain (1 - alpha)^n of a subtopic seen n times before",
    laws={"padding", "zero"},
    needs_subtopics=True,
)
def alpha_ndcg(judged: JudgedQuery, k: int, *, alpha: float = 0.5) -> float:
    """Return the gain of the first *k* hits over that of an ideal ranking, by subtopics.

    The ideal ranking is found greedily, as in ndeval; of equal gains the higher document id wins.

    >>> from karat.model.judged import Subtopics
    >>> seen = Subtopics({1: (0,), 2: (0,), 3: (1,)}, ((0,), (0,), (1,)), 2)
    >>> query = JudgedQuery([1, 2, 3], [1] * 3, ideal=[1] * 3, retrieved=3, subtopics=seen)
    >>> round(alpha_ndcg(query, 3), 4)
    0.9652
    """
    _check(alpha, "alpha")
    subtopics = judged.subtopics
    if subtopics is None:
        return nan
    best = _discounted(_ideal(subtopics.targets, k, alpha))
    return _discounted(_gains(_hits(subtopics, k), alpha)) / best if best else 0.0


@metric(
    "Diversity: reciprocal rank of each subtopic, intent-aware.",
    formula="sum of gain_i / i, over that of hits on all subtopics; alpha as in alpha-ndcg",
    laws={"padding", "zero"},
    needs_subtopics=True,
)
def err_ia(judged: JudgedQuery, k: int, *, alpha: float = 0.5) -> float:
    """Return the expected reciprocal rank of the first *k* hits over all subtopics.

    It is divided by the value of a ranking in which each hit covers all subtopics.

    >>> from karat.model.judged import Subtopics
    >>> seen = Subtopics({2: (0, 1)}, ((0, 1),), 2)
    >>> round(err_ia(JudgedQuery([2], [1], ideal=[1], retrieved=2, subtopics=seen), 2), 4)
    0.4
    """
    _check(alpha, "alpha")
    subtopics = judged.subtopics
    if subtopics is None:
        return nan
    gains = _gains(_hits(subtopics, k), alpha)
    best = sum(subtopics.total * (1.0 - alpha) ** (rank - 1) / rank for rank in range(1, k + 1))
    return sum(gain / rank for rank, gain in enumerate(gains, 1)) / best


@metric(
    "Diversity: novelty- and rank-biased precision.",
    formula="(1 - (1 - alpha) beta) / subtopics * sum of gain_i beta^(i - 1)",
    laws={"padding", "zero"},
    needs_subtopics=True,
)
def nrbp(judged: JudgedQuery, *, alpha: float = 0.5, beta: float = 0.5) -> float:
    """Return novelty- and rank-biased precision of all hits; a user reads on with chance *beta*.

    >>> from karat.model.judged import Subtopics
    >>> seen = Subtopics({1: (0, 1)}, ((0, 1),), 2)
    >>> nrbp(JudgedQuery([1], [1], ideal=[1], retrieved=1, subtopics=seen))
    0.75
    """
    _check(alpha, "alpha")
    _check(beta, "beta")
    subtopics = judged.subtopics
    if subtopics is None:
        return nan
    gains = _gains(_hits(subtopics, max(subtopics.ranked, default=0)), alpha)
    total = sum(gain * beta**index for index, gain in enumerate(gains))
    return total * (1.0 - (1.0 - alpha) * beta) / subtopics.total


@metric(
    "Diversity: share of the subtopics covered by the first k hits (subtopic recall).",
    formula="subtopics covered / subtopics with a relevant target",
    laws={"padding", "zero"},
    needs_subtopics=True,
)
def strec(judged: JudgedQuery, k: int) -> float:
    """Return the share of the subtopics that the first *k* hits cover.

    >>> from karat.model.judged import Subtopics
    >>> seen = Subtopics({1: (0,), 2: (0,), 9: (1,)}, ((0,), (0,), (1,)), 2)
    >>> strec(JudgedQuery([1, 2, 9], [1] * 3, ideal=[1] * 3, retrieved=9, subtopics=seen), 5)
    0.5
    """
    subtopics = judged.subtopics
    if subtopics is None:
        return nan
    covered = {code for codes in _hits(subtopics, k) for code in codes}
    return len(covered) / subtopics.total


def _check(value: float, name: str) -> None:
    if not 0.0 <= value < 1.0:
        raise InputError(f"{name}={value:g} is out of range; expected 0 or more and below 1")


def _hits(subtopics: Subtopics, k: int) -> Iterator[Sequence[int]]:
    """Yield the subtopics of each of the first *k* hits."""
    return (subtopics.ranked.get(rank, ()) for rank in range(1, k + 1))


def _gains(hits: Iterable[Sequence[int]], alpha: float) -> list[float]:
    """Return the gain of each hit, given those before it."""
    seen: Counter[int] = Counter()
    gains = []
    for codes in hits:
        gains.append(sum(((1.0 - alpha) ** seen[code] for code in codes), 0.0))
        seen.update(codes)
    return gains


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain * discount(rank) for rank, gain in enumerate(gains, 1))


def _ideal(targets: Sequence[Sequence[int]], k: int, alpha: float) -> list[float]:
    """Return the gains of the greedy ranking of *targets*; of equal gains the first wins."""
    left = list(targets)
    seen: Counter[int] = Counter()
    gains = []
    for _ in range(min(k, len(left))):
        worth = [sum((1.0 - alpha) ** seen[code] for code in codes) for codes in left]
        index = worth.index(max(worth))
        gains.append(worth[index])
        seen.update(left.pop(index))
    return gains
