"""The best k of many scores without sorting them all; ties go to the smaller document number."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranking", "best", "padded"]

# Scores are laid out in this many rows; the maximum of a column stands for all scores in it.
ROWS = 64


class Ranking(NamedTuple):
    """Document numbers, best first, with their scores."""

    documents: NDArray[np.intp]
    scores: NDArray[np.float32]


def best(scores: NDArray[np.float32], k: int) -> Ranking:
    """Return the *k* best positive scores; a score of 0 means that nothing matched.

    >>> best(np.array([1, 0, 3, 1], dtype=np.float32), 2)
    Ranking(documents=array([2, 0]), scores=array([3., 1.], dtype=float32))
    """
    if k <= 0:
        return Ranking(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32))
    columns = -(-len(scores) // ROWS)
    if columns < 4 * k:
        chosen = np.flatnonzero(scores > 0)
        return ranked(chosen, scores[chosen], k)
    if len(scores) < columns * ROWS:
        scores = padded(scores)
    table = scores.reshape(ROWS, columns)
    # Down the columns: whole rows are compared at once, which within a row is not possible.
    maxima = table.max(axis=0)
    # At least k documents score as much as the k-th largest maximum; so whoever is among the best
    # stands in a column whose maximum is no less.
    least = np.partition(maxima, columns - k)[columns - k]
    if least <= 0:
        chosen = np.flatnonzero(scores > 0)
        return ranked(chosen, scores[chosen], k)
    near = np.flatnonzero(maxima >= least)
    inside = table[:, near]
    rows, places = np.nonzero(inside >= least)
    return ranked(rows * columns + near[places], inside[rows, places], k)


def padded(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return *scores* with zeros behind them, so that they fill whole rows.

    >>> len(padded(np.ones(100, dtype=np.float32)))
    128
    """
    filled = np.zeros(-(-len(scores) // ROWS) * ROWS, dtype=np.float32)
    filled[: len(scores)] = scores
    return filled


def ranked(documents: NDArray[np.intp], scores: NDArray[np.float32], k: int) -> Ranking:
    """Return the best *k* of ascending *documents*."""
    if len(documents) > 8 * k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
        documents, scores = documents[places], scores[places]
    # Stable, so that equal scores keep the order of their documents.
    order = np.argsort(-scores, kind="stable")[:k]
    return Ranking(documents[order], scores[order])
