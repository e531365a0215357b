"""A plan: what a set detects, how many queries a difference needs, and whether a set is full."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from karat.errors import InputError
from karat.extensions.plan.pilot import Pilot
from karat.extensions.plan.spread import Design, Spread, detectable, units_needed

SIZES = (25, 50, 100, 200, 500, 1_000, 2_000, 5_000)
# A table ends at so many times the largest set of interest.
FURTHER = 4
TRIALS = (1, 3, 5, 10)
# From this share of queries on which all have the highest score, a set is full of easy ones.
MOSTLY = 0.8
LEAST_QUERIES, LEAST_CLUSTERS = 30, 20


@dataclass(frozen=True, slots=True)
class Plan:
    """The spread that is planned with, where it is from, and what is asked.

    *design* is that of the set at hand, None without one; *size* is the size of clusters, and
    *trials* how often each query is to be run. *packaged* says whose spread it is if it is none of
    the user's own. No two means differ by more than *largest*.
    """

    measure: str
    source: str
    spread: Spread
    design: Design | None = None
    difference: float | None = None
    size: float = 1
    trials: int = 1
    level: float = 0.95
    power: float = 0.8
    pilot: Pilot | None = None
    packaged: str = ""
    largest: float = inf

    def __post_init__(self) -> None:
        """Reject a difference that no two systems can have."""
        if self.difference is not None and self.difference > self.largest:
            raise InputError(
                f"--difference {self.difference:g}: two systems differ by at most {self.largest:g} "
                f"in {self.measure}"
            )

    @property
    def present(self) -> float | None:
        """Return what the set at hand detects; None if it is no difference, or there is no set."""
        return None if self.design is None else self.detects(self.design)

    @property
    def needed(self) -> int | None:
        """Return how many units detect the difference that is asked for; None for too many."""
        return self.needed_with(self.trials)

    @property
    def trial_choices(self) -> tuple[int, ...]:
        """Return the numbers of trials to choose from: those that are known to make a difference.

        >>> Plan("f1", "", Spread(0.2)).trial_choices, Plan("f1", "", Spread(0.2), trials=2).trials
        ((1,), 2)
        """
        if not self.spread.trials:
            return (self.trials,)
        return tuple(sorted({*TRIALS, self.trials}))

    def detects(self, design: Design) -> float | None:
        """Return the difference that *design* detects."""
        return detectable(self.spread, design, level=self.level, power=self.power)

    def needed_with(self, trials: int) -> int | None:
        """Return how many units with so many trials detect the difference that is asked for."""
        if self.difference is None:
            return None
        design = Design(1, self.size, trials)
        return units_needed(
            self.spread, self.difference, design, level=self.level, power=self.power
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the numbers of units for a table: round ones, that at hand and that needed."""
        own = {self.design.units} if self.design else set()
        needed = {self.needed} if self.needed else set()
        most = FURTHER * max({*own, *needed}, default=max(SIZES))
        usual = {units for units in SIZES if units <= most or units == min(SIZES)}
        return tuple(sorted({*usual, *own, *needed}))

    def curve(self, sizes: Iterable[int]) -> Iterator[tuple[int, list[float | None]]]:
        """Yield numbers of units, with what they detect for each choice of trials."""
        for units in sizes:
            yield (
                units,
                [self.detects(Design(units, self.size, each)) for each in self.trial_choices],
            )

    @property
    def least(self) -> float | None:
        """Return what the clusters at hand detect with endless queries in each; None without any.

        More queries in the same clusters never detect less.
        """
        if self.design is None or not self.spread.clusters:
            return None
        endless = self.spread._replace(queries=0.0, trials=None)
        design = self.design._replace(size=max(self.design.size, 2))
        return detectable(endless, design, level=self.level, power=self.power)

    @property
    def is_uncertain(self) -> bool:
        """Whether the pilot is too small: simulated plans of smaller ones miss their power."""
        if self.pilot is None:
            return False
        least = LEAST_QUERIES if self.pilot.design.size == 1 else LEAST_CLUSTERS
        return self.pilot.design.units < least

    @property
    def is_saturated(self) -> bool:
        """Whether scores are so high that the set at hand cannot show what is better.

        No improvement of the best system would be detected, or most queries are solved by all.
        """
        if self.pilot is None or self.pilot.headroom is None:
            return False
        present = self.present
        is_full = self.pilot.full >= MOSTLY or (
            present is not None and self.pilot.headroom < present
        )
        return is_full and self.pilot.headroom < 1 - MOSTLY
