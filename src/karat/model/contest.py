"""Several runs, scored and compared: what reports draw."""

from collections.abc import Mapping
from dataclasses import dataclass

from karat.model.comparison import Comparison
from karat.model.evaluation import Evaluation

__all__ = ["Contest"]


@dataclass(frozen=True, slots=True)
class Contest:
    """Several runs, scored and compared: over all queries, and per value of each tag asked for.

    *notes* say what limits the comparison, and end the verdict; *further_tests* are sentences about
    tests that were asked for beside the default ones; *clusters* counts the groups
    in which queries are drawn, 0 where each is drawn by itself.
    """

    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    slices: Mapping[str, Mapping[str, Comparison]]
    verdict: str
    further_tests: tuple[str, ...] = ()
    clusters: int = 0
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return sentences on runs whose scores must not be used."""
        return tuple(text for each in self.evaluations for text in each.warnings)
