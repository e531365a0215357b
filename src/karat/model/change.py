"""How a run differs from an earlier one of the same engine."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from karat.model.comparison import Comparison, Difference


class Earlier(StrEnum):
    """Which earlier run a run is compared with: the last finished one, or the one pinned."""

    PREVIOUS = "previous"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class RunChange:
    """The change of *run* since an earlier run of the same name, on the queries of both.

    *earlier* is the id of the earlier run, and *ended* when it ended. *comparison* is on one
    measure, with the earlier run as the baseline. *queries* is the number of queries of the gold
    set, of which the comparison may have fewer. *altered* names what is known to differ beside the
    hits: files of the engine, ``options``, ``documents``, the version of Karat.
    """

    run: str
    against: Earlier
    earlier: str
    ended: datetime
    queries: int
    altered: tuple[str, ...]
    comparison: Comparison

    @property
    def difference(self) -> Difference:
        """Return this run minus the earlier one."""
        return self.comparison.differences[0]

    @property
    def unchanged(self) -> bool:
        """Return whether both runs have the same score on every common query."""
        return self.difference.ties == self.difference.n
