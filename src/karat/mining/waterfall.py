"""Which rule dropped how many commits, in the order in which they were asked."""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Step", "Waterfall"]


class Step(NamedTuple):
    """One rule, and how many of those that reached it it dropped."""

    rule: str
    why: str
    dropped: int


class Waterfall(NamedTuple):
    """How *total* commits became as many cases as are *kept*.

    >>> fall = Waterfall(10, (Step("merge", "it only joins two lines of work", 4),))
    >>> fall.kept, fall.then("code-equal", "it changes no code", 1).kept
    (6, 5)
    """

    total: int
    steps: tuple[Step, ...]

    @property
    def kept(self) -> int:
        """How many no rule dropped."""
        return self.total - sum(step.dropped for step in self.steps)

    def then(self, rule: str, why: str, dropped: int) -> "Waterfall":
        """Return the waterfall with one more rule at its end."""
        return self._replace(steps=(*self.steps, Step(rule, why, dropped)))

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield each rule with how many it dropped and how many were left after it."""
        left = self.total
        for step in self.steps:
            left -= step.dropped
            yield step.rule, step.dropped, left
