"""A buffer in front of a recorder, so that fast searches do not wait for transactions."""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Self

from karat.experiments.store.base import Recorder
from karat.experiments.store.records import StoredQueryResult
from karat.model import Answer
from karat.model.timings import LatencySample

__all__ = ["Buffer"]

# Long enough for some dozen fast searches, and too short to notice after a slow one.
TOGETHER_S = 0.05


class Buffer:
    """Passes answers on to *recorder*: the first at once, then all of the last *together_s*.

    A transaction for each answer would take longer than many searches. If the process is killed,
    the queries of that short time are lost and run again. Leaving the context stores all answers.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        together_s: float = TOGETHER_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start without an answer."""
        self._recorder = recorder
        self._together_s = together_s
        self._clock = clock
        self._waiting: list[StoredQueryResult] = []
        self._flushed = -inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()

    def add(self, run: str, answer: Answer, sample: LatencySample | None = None) -> None:
        """Store an answer of *run*, now or a little later."""
        self._waiting.append(StoredQueryResult(run, answer, sample))
        if self._clock() - self._flushed >= self._together_s:
            self.flush()

    def flush(self) -> None:
        """Store the waiting answers."""
        self._recorder.add_many(self._waiting)
        # Cleared afterwards: an interrupted transaction is repeated.
        self._waiting.clear()
        self._flushed = self._clock()
