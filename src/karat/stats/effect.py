"""How large a difference is: effect size, win / tie / loss, relative improvement."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.stats.arrays import scored
from karat.stats.moments import column_moments

__all__ = ["WinTieLoss", "paired_effect", "relative_improvement", "win_tie_loss"]


class WinTieLoss(NamedTuple):
    """On how many queries the system is better, equal, worse."""

    wins: int
    ties: int
    losses: int


def paired_effect(differences: ArrayLike) -> float | None:
    """Return mean / standard deviation of *differences* (n - 1); None without a variance.

    >>> round(paired_effect([0.2, 0.1, 0.4, 0.3]), 3)
    1.936
    """
    (found,) = column_moments(differences)
    return found.mean / found.sd if found.varies else None


def win_tie_loss(differences: ArrayLike) -> WinTieLoss:
    """Return how many *differences* are above, at and below 0; NaN is left out.

    >>> win_tie_loss([0.5, 0.0, -0.1, float("nan")])
    WinTieLoss(wins=1, ties=1, losses=1)
    """
    kept = scored(differences)
    wins, losses = int(np.count_nonzero(kept > 0)), int(np.count_nonzero(kept < 0))
    return WinTieLoss(wins, len(kept) - wins - losses, losses)


def relative_improvement(system: float | None, baseline: float | None) -> float | None:
    """Return (system - baseline) / baseline as a fraction; None from 0 or without a number.

    >>> relative_improvement(0.75, 0.5), relative_improvement(0.75, 0.0)
    (0.5, None)
    """
    if system is None or not baseline:
        return None
    return (system - baseline) / abs(baseline)
