"""Comparison, score matrix, slices, curves and two sides, in the shape that the API promises."""

from karat.report.page import analysis as page
from karat.service.api.schemas.analysis import Comparison, Curves, ScoreMatrix, Slices, TwoSides
from karat.service.api.views.results import subject_of
from karat.service.results import ScoredBenchmark

__all__ = ["comparison", "curves", "matrix", "slices", "two_sides"]


def comparison(scored: ScoredBenchmark, baseline: str | None, metric: str | None) -> Comparison:
    """Return all runs against one of them, by default the first one, on one metric."""
    return Comparison.model_validate(page.comparison(subject_of(scored), baseline, metric))


def matrix(scored: ScoredBenchmark, metric: str | None) -> ScoreMatrix:
    """Return the score of every query in every run."""
    return ScoreMatrix.model_validate(page.matrix(subject_of(scored), metric))


def slices(scored: ScoredBenchmark, metric: str | None, by: str | None) -> Slices:
    """Return the means of each run over the queries with each value of the tag *by*."""
    return Slices.model_validate(page.slices(subject_of(scored), metric, by))


def curves(scored: ScoredBenchmark) -> Curves:
    """Return the metrics with a cut-off at growing cut-offs."""
    return Curves.model_validate(page.curves(subject_of(scored)))


def two_sides(
    left: ScoredBenchmark, left_run: str, right: ScoredBenchmark, right_run: str, metric: str | None
) -> TwoSides:
    """Return one run against another, perhaps of another benchmark, on the queries of both."""
    sides = subject_of(left), left_run, subject_of(right), right_run
    return TwoSides.model_validate(page.two_sides(*sides, metric))
