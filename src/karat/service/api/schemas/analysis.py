"""What is drawn from results: paired comparisons, the matrix of all scores, slices and curves."""

from typing import Literal
from uuid import UUID

from karat.service.api.schemas.base import Answer

__all__ = [
    "Comparison",
    "ComparisonRun",
    "Curve",
    "Curves",
    "ScoreMatrix",
    "Slice",
    "Slices",
    "TwoSides",
]


class ComparisonRun(Answer):
    """One run against the baseline, query by query; *p_corrected* accounts for all runs tested.

    *low* and *high* bound the difference; *effect* is the standardised one.
    """

    run_id: str
    name: str
    mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    effect: float | None
    improved: int
    regressed: int
    tied: int
    verdict: Literal["better", "worse", "no difference shown", "baseline"]


class Comparison(Answer):
    """All runs against one of them; *headline* is the outcome in one sentence."""

    baseline: str
    metric: str
    runs: list[ComparisonRun]
    headline: str
    verdict: str


class ScoreMatrix(Answer):
    """Scores of all queries (rows) in all runs (columns); null where there is none.

    *texts* are the texts of the queries, *tags* their values of each tag.
    """

    metric: str
    queries: list[str]
    texts: list[str]
    tags: dict[str, list[str]]
    runs: list[str]
    values: list[list[float | None]]


class Slice(Answer):
    """The queries with one value of a tag."""

    value: str
    queries: int
    means: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]


class Slices(Answer):
    """Means of each run (by its id) over slices of the queries; *tags* lists what *by* may be."""

    metric: str
    by: str
    tags: list[str]
    slices: list[Slice]


class Curve(Answer):
    """One measure of one run against k; null beyond the run's top_k."""

    run_id: str
    name: str
    measure: str
    k: list[int]
    values: list[float | None]


class Curves(Answer):
    """Measures against k, for every run."""

    curves: list[Curve]


class Side(Answer):
    """One side of a comparison of two benchmarks or runs."""

    benchmark_id: UUID
    benchmark_name: str
    run_id: str
    run_name: str
    mean: float | None


class TwoSides(Answer):
    """Two runs, perhaps of two benchmarks, on the queries that both have answered.

    Where they are not *comparable*, *why* says what differs: dataset, judgments or documents.
    """

    metric: str
    left: Side
    right: Side
    comparable: bool
    why: str | None
    queries: int
    comparison: ComparisonRun
    headline: str
    verdict: str
