"""Corrections for many comparisons that need nothing but the p values."""

from collections.abc import Sequence

__all__ = ["benjamini_hochberg", "holm"]


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm: the chance of any false alarm stays below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    corrected = [0.0] * len(ps)
    floor = 0.0
    for done, place in enumerate(order):
        floor = max(floor, min(1.0, (len(ps) - done) * ps[place]))
        corrected[place] = floor
    return corrected


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Benjamini and Hochberg: the expected share of false alarms.

    Weaker than Holm's: among twenty differences called real, one may well not be.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place], reverse=True)
    corrected = [0.0] * len(ps)
    ceiling = 1.0
    for done, place in enumerate(order):
        ceiling = min(ceiling, len(ps) * ps[place] / (len(ps) - done))
        corrected[place] = ceiling
    return corrected
