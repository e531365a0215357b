"""Looking while queries come in: a confidence sequence may be read after every one of them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import FloatArray, scored
from karat.scoring.stats.bootstrap import check_level

__all__ = ["ConfidenceSequence", "confidence_sequence"]


class ConfidenceSequence(NamedTuple):
    """Running mean and interval after each scored query; NaN before there are enough of them."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def decided_at(self) -> int | None:
        """Return after how many queries the interval first leaves out 0; None if it never does."""
        away = np.flatnonzero((self.low > 0.0) | (self.high < 0.0))
        return int(away[0]) + 1 if len(away) else None


def confidence_sequence(
    differences: ArrayLike, *, level: float = 0.95, planned: int = 127, start: int = 10
) -> ConfidenceSequence:
    """Return the sequence over *differences* in the order they came; NaN is left out.

    Asymptotic and valid at any time (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021): the
    chance that the true mean is ever outside is 1 - *level*, whenever one stops. It is narrowest
    around *planned* queries and about one and a half times as wide as a fixed-size interval there.
    Nothing is said before *start* queries, where the normal approximation does not hold yet.

    >>> confidence_sequence([0.2, 0.3, 0.1, 0.4] * 10).decided_at()
    10
    """
    check_level(level)
    if planned < 2 or start < 2:
        raise InputError(f"planned {planned}, start {start}: expected two or more queries each")
    values = scored(differences)
    count = np.arange(1, len(values) + 1, dtype=np.float64)
    mean = np.cumsum(values) / count
    # Welford's update in closed form: centred first, so that no digits cancel.
    centred = values - (values.mean() if len(values) else 0.0)
    running = np.cumsum(centred) / count
    variance = np.maximum(np.cumsum(centred * centred) / count - running * running, 0.0)
    alpha = 1.0 - level
    wish = -2.0 * math.log(alpha)
    rho2 = (wish + math.log(wish + 1.0)) / planned
    spread = count * rho2 + 1.0
    radius = np.sqrt(variance * 2 * spread / (count**2 * rho2) * np.log(np.sqrt(spread) / alpha))
    # No variance yet means no knowledge of the noise, not certainty.
    radius[(count < start) | (variance == 0.0)] = math.nan
    return ConfidenceSequence(mean, mean - radius, mean + radius)
