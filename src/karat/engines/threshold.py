"""Score thresholds: which engines have one, and how many hits reach it."""

from collections.abc import Sequence

from karat.engines.registry import ENGINES
from karat.errors import InputError
from karat.model.spec import Spec

__all__ = ["above", "by_score", "check_threshold"]


def by_score(spec: Spec) -> bool:
    """Return whether a threshold applies to the score itself, not to its share of the best one."""
    info = ENGINES.find(spec.name)
    return info is not None and info.absolute_scores


def check_threshold(threshold: float) -> float:
    """Return *threshold*, or raise InputError if it is not between 0 and 1."""
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold {threshold} is not between 0 and 1")
    return threshold


def above(scores: Sequence[float], threshold: float, *, by_score: bool) -> int:
    """Return how many of the descending *scores* reach *threshold*; 0 lets all of them through.

    *by_score* compares the score itself, otherwise its share of the first one. No score at or
    below 0, and none that is not a number, reaches a threshold.

    >>> above([8.0, 4.0, 1.0], 0.5, by_score=False), above([0.4, 0.3], 0.35, by_score=True)
    (2, 1)
    """
    if not threshold or not scores:
        return len(scores)
    floor = threshold if by_score else threshold * scores[0]
    low = (rank for rank, score in enumerate(scores) if not (score > 0 and score >= floor))
    return next(low, len(scores))
