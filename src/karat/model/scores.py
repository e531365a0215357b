"""Scores per query and metric, with a status for each query."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from karat.model.frozen import by_value

__all__ = ["QueryStatus", "ScoreTable"]


class QueryStatus(IntEnum):
    """The status of a query. All but UNJUDGED count in the means.

    MISSING, ERROR and TIMEOUT count as an empty answer, which scores 0, and are skipped if less is
    better.
    """

    SCORED = 0
    MISSING = 1
    ERROR = 2
    TIMEOUT = 3
    UNJUDGED = 4


@by_value
@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of one run: ``columns[metric][query]``; NaN means that the query is not scored."""

    name: str
    query_ids: tuple[str, ...]
    statuses: tuple[QueryStatus, ...]
    columns: "Mapping[str, array[float]]"

    def count(self, status: QueryStatus) -> int:
        """Return how many queries have *status*."""
        return self.statuses.count(status)
