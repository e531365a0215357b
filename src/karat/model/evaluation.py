"""One scored run, as reports show it."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

from karat.errors import UnknownName
from karat.model.mismatch import Mismatch
from karat.model.scores import QueryStatus, ScoreTable

if TYPE_CHECKING:
    from karat.model.comparison import Interval

from karat.model.equality import by_value

__all__ = ["Evaluation", "Notes", "Summary"]


@by_value
@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over a set of queries: its mean, with the interval if requested.

    *answered* is the mean over answered queries only, without errors, timeouts and missing ones.
    """

    measure: str
    mean: float
    answered: float
    n: int
    interval: "Interval | None" = None


@by_value
@dataclass(frozen=True, slots=True)
class Notes:
    """Notes that belong to the scores.

    *clusters* counts the groups in which queries are resampled for intervals; 0: queries are
    independent. *hits_per_query* is the mean over the queries with a hit, NaN if there are none.
    *mismatch* is set if the run and the dataset use different document names. *dropped* is a
    warning about hits outside the corpus, if most queries have no other hits.
    """

    queries: int
    statuses: Mapping[QueryStatus, int]
    invalid: Mapping[str, int]
    unknown_queries: tuple[str, ...]
    ties: str
    tied: int
    judged_share: float
    clusters: int = 0
    hits_per_query: float = nan
    mismatch: Mismatch | None = None
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One scored run: per query in *table*, over all in *summaries*, per tag value in *slices*."""

    name: str
    table: ScoreTable
    summaries: tuple[Summary, ...]
    notes: Notes
    slices: Mapping[str, Mapping[str, tuple[Summary, ...]]]

    @property
    def broken(self) -> bool:
        """Return whether the scores are meaningless because document names do not match."""
        mismatch = self.notes.mismatch
        return bool((mismatch and mismatch.sure) or self.notes.dropped)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about names that do not match, or may not; see :attr:`broken`."""
        mismatch = self.notes.mismatch
        found = (mismatch.text(self.name) if mismatch else "", self.notes.dropped)
        return tuple(text for text in found if text)

    def shown(self) -> "Evaluation":
        """Return the form for reports: a broken run has no scores, as its zeros mean nothing."""
        if not self.broken:
            return self
        nothing = array("d", [nan]) * len(self.table.query_ids)
        slices = {
            tag: {value: _unscored(summaries) for value, summaries in values.items()}
            for tag, values in self.slices.items()
        }
        return replace(
            self,
            table=replace(self.table, columns=dict.fromkeys(self.table.columns, nothing)),
            summaries=_unscored(self.summaries),
            slices=slices,
        )

    def __getitem__(self, measure: str) -> float:
        """Return the mean of *measure*, named as in the summaries."""
        for summary in self.summaries:
            if summary.measure == measure:
                return summary.mean
        known = ", ".join(summary.measure for summary in self.summaries)
        raise UnknownName(f"{measure!r} was not computed; computed: {known}")


def _unscored(summaries: tuple[Summary, ...]) -> tuple[Summary, ...]:
    return tuple(Summary(summary.measure, nan, nan, 0) for summary in summaries)
