"""From values to places on paper."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

__all__ = ["Scale", "decades", "nice"]

MOST_TICKS = 7


class Scale(NamedTuple):
    """A straight line from *low* and *high* to *first* and *last*; *log* for times and cut-offs."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of *value*.

        >>> Scale(0, 1, 100, 300)(0.25), Scale(1, 100, 0, 10, log=True)(10)
        (150.0, 5.0)
        """
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(max(value, low))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.first + share * (self.last - self.first)


def nice(high: float, *, parts: int = 4) -> list[float]:
    """Return round numbers from 0 to *high* or a little above.

    >>> nice(1.0), nice(0.33), nice(870)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 250.0, 500.0, 750.0, 1000.0])
    """
    if high <= 0:
        return [0.0, 1.0]
    rough = high / parts
    power = 10.0 ** floor(log10(rough))
    step = next(
        factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9)
    )
    return [round(place * step, 12) for place in range(ceil(high / step - 1e-9) + 1)]


def decades(values: Sequence[float]) -> list[float]:
    """Return 1, 2, 5, 10, ... or powers of ten alone, from below the least to above the most.

    >>> decades([0.4, 3.0]), decades([0.02, 900.0])
    ([0.2, 0.5, 1.0, 2.0, 5.0], [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])
    """
    known = [value for value in values if value > 0] or [1.0]
    least, most = min(known), max(known)
    # The logarithm of a number just below a power of ten is rounded to that of the power.
    low, high = floor(log10(least)), ceil(log10(most))
    powers = range(low - (10.0**low > least), high + (10.0**high < most) + 1)
    fine = [round(factor * 10.0**power, 9) for power in powers for factor in (1, 2, 5)]
    first = max(tick for tick in fine if tick <= least)
    last = min(tick for tick in fine if tick >= most and tick > first)
    ticks = [tick for tick in fine if first <= tick <= last]
    return ticks if len(ticks) <= MOST_TICKS else [round(10.0**power, 9) for power in powers]
