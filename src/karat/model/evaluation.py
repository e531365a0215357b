"""Runs, scored and compared: what reports draw."""

from collections.abc import Mapping
from dataclasses import dataclass

from karat.errors import UnknownName
from karat.model.comparison import Comparison, Interval
from karat.model.scores import ScoreTable, Status

__all__ = ["Contest", "Evaluation", "Notes", "Summary"]


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over a set of queries: its mean, with the interval where one was asked for.

    *answered* is the mean over answered queries only, without errors, timeouts and missing ones.
    """

    measure: str
    mean: float
    answered: float
    n: int
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    """What a reader must know beside the numbers."""

    queries: int
    statuses: Mapping[Status, int]
    invalid: Mapping[str, int]
    unknown_queries: tuple[str, ...]
    ties: str
    tied: int
    judged_share: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run, scored: per query in *table*, over all in *summaries*, per tag value in *slices*."""

    name: str
    table: ScoreTable
    summaries: tuple[Summary, ...]
    notes: Notes
    slices: Mapping[str, Mapping[str, tuple[Summary, ...]]]

    def __getitem__(self, measure: str) -> float:
        """Return the mean of *measure*, named as it is in the summaries."""
        for summary in self.summaries:
            if summary.measure == measure:
                return summary.mean
        known = ", ".join(summary.measure for summary in self.summaries)
        raise UnknownName(f"{measure!r} was not computed; computed: {known}")


@dataclass(frozen=True, slots=True)
class Contest:
    """Several runs, scored and compared: over all queries, and per value of each tag asked for.

    *further_tests* are sentences about tests that were asked for beside the default ones.
    """

    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    slices: Mapping[str, Mapping[str, Comparison]]
    verdict: str
    further_tests: tuple[str, ...] = ()
