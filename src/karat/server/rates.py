"""How often one token may ask: a bucket that fills steadily and is emptied by requests."""

from collections.abc import Callable
from threading import Lock
from time import monotonic

__all__ = ["Rates"]

MOST_BUCKETS = 10_000


class Rates:
    """Lets each name ask *per_minute* times in a minute, and that many at once.

    >>> rates = Rates(per_minute=60, clock=iter([0.0, 0.0, 0.5]).__next__, burst=1)
    >>> rates.wait_s("a"), rates.wait_s("a"), rates.wait_s("a")
    (0.0, 1.0, 0.5)
    """

    def __init__(
        self, *, per_minute: int, burst: int | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        """Start with full buckets."""
        self._per_second = per_minute / 60
        self._burst = float(burst or per_minute)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def wait_s(self, name: str) -> float:
        """Count one request of *name*; return 0, or the seconds after which it may ask again."""
        with self._lock:
            now = self._clock()
            # The oldest goes first where somebody makes up names; its bucket is full by then.
            left, since = self._buckets.pop(name, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._per_second)
            allowed = left >= 1
            self._buckets[name] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
            return 0.0 if allowed else (1 - left) / self._per_second
