"""How long something will still take, by an average that does not jump."""

__all__ = ["Pace", "clock_time"]

# Steps of a minute ago count half as much as those of now.
HALF_LIFE_S = 60.0
# Before that, an estimate would rest on a few steps and be wrong by a factor.
LEAST_S, LEAST_STEPS = 3.0, 3


class Pace:
    """The average time of a step, over the last minutes.

    >>> pace = Pace()
    >>> for second in range(11):
    ...     pace.step(2, float(second))
    >>> pace.left_s(100)
    50.0
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._elapsed_s = 0.0
        self._updates = 0
        self._steps = self._seconds = 0.0

    def step(self, count: int, now: float) -> None:
        """Count *count* further steps that ended at *now*."""
        if self._last is not None:
            spent = max(now - self._last, 0.0)
            kept = 0.5 ** (spent / HALF_LIFE_S)
            self._steps = self._steps * kept + count
            self._seconds = self._seconds * kept + spent
            self._elapsed_s += spent
            self._updates += 1
        self._last = now

    def pause(self) -> None:
        """Leave the time until the next step out, and that step."""
        self._last = None

    def left_s(self, steps: int) -> float | None:
        """Return how long *steps* take; None as long as nobody can know."""
        known = self._elapsed_s >= LEAST_S and self._updates >= LEAST_STEPS and self._steps > 0
        return steps * self._seconds / self._steps if known else None


def clock_time(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    >>> clock_time(67.4), clock_time(4000)
    ('0:01:07', '1:06:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
