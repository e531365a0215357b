"""Gains of a judged query, as trec_eval's gain-based measures see them."""

from typing import NamedTuple

from karat.metrics.gain import gain_function
from karat.model import JudgedQuery

__all__ = ["Gains", "gains_of"]


class Gains(NamedTuple):
    """The hits that gain anything, by rank, and the positive gains of all judgments, descending."""

    hits: list[tuple[int, float]]
    ideal: list[float]


def gains_of(judged: JudgedQuery, gain: str) -> Gains:
    """Return the gains of *judged* under the gain rule *gain*.

    >>> gains_of(JudgedQuery([1, 2], [0, 2], ideal=[2, 1, 0], retrieved=3), "1:5")
    Gains(hits=[(2, 2)], ideal=[5.0, 2])
    """
    gain_of = gain_function(gain)
    pairs = zip(judged.ranks, map(gain_of, judged.grades), strict=True)
    ideal = sorted(filter(None, map(gain_of, judged.ideal)), reverse=True)
    return Gains([(rank, value) for rank, value in pairs if value], ideal)
