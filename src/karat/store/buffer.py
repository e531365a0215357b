"""Answers that come close upon each other are kept in one transaction."""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Self

from karat.model import Answer
from karat.model.timings import Sample
from karat.store.base import Recorder
from karat.store.records import Kept

__all__ = ["Buffer"]

# Long enough for some dozen quick searches; whoever asks a slow one does not notice it.
TOGETHER_S = 0.05


class Buffer:
    """Hands answers on to *recorder*: the first at once, then all that came in *together_s*.

    A transaction for each would take longer than many a search. What is lost when the process is
    killed took no longer than that to find, and is asked again. Leaving the context, for whatever
    reason, keeps all.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        together_s: float = TOGETHER_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Begin with nothing."""
        self._recorder = recorder
        self._together_s = together_s
        self._clock = clock
        self._waiting: list[Kept] = []
        self._flushed = -inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()

    def add(self, run: str, answer: Answer, sample: Sample | None = None) -> None:
        """Keep an answer of *run*, now or a little later."""
        self._waiting.append(Kept(run, answer, sample))
        if self._clock() - self._flushed >= self._together_s:
            self.flush()

    def flush(self) -> None:
        """Keep what is waiting."""
        self._recorder.add_many(self._waiting)
        # Only now: if that was interrupted, it is done once more.
        self._waiting.clear()
        self._flushed = self._clock()
