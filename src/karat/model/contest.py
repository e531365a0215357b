"""Several scored and compared runs, as reports show them."""

from collections.abc import Mapping
from dataclasses import dataclass

from karat.model.comparison import Comparison
from karat.model.evaluation import Evaluation

__all__ = ["ComparisonResult"]


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """Several scored and compared runs: over all queries, and per value of each requested tag.

    *notes* are limits of the comparison, shown after the verdict; *further_tests* are sentences
    about additional tests; *clusters* counts the groups in which queries are resampled, 0 if
    queries are independent.
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
        """Return warnings about runs whose scores must not be used."""
        return tuple(text for each in self.evaluations for text in each.warnings)
