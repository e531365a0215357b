"""The same statistics for each value of a tag: category, difficulty, language."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.errors import InputError
from karat.model.comparison import Comparison, Interval
from karat.stats.arrays import as_columns
from karat.stats.bootstrap import Bounds, bootstrap_intervals
from karat.stats.compare import compare

__all__ = ["Slice", "SliceComparison", "SliceIntervals", "compare_by", "intervals_by", "slices"]


class Slice(NamedTuple):
    """The queries (row numbers) that carry one value of a tag."""

    name: str
    rows: NDArray[np.intp]


class SliceIntervals(NamedTuple):
    """The intervals of each column over the *n* queries of one slice."""

    name: str
    n: int
    intervals: tuple[Interval, ...]


class SliceComparison(NamedTuple):
    """The comparison over the queries of one slice."""

    name: str
    comparison: Comparison


def slices(codes: ArrayLike, names: Sequence[str]) -> tuple[Slice, ...]:
    """Return one slice per name, empty ones too; ``codes[query]`` numbers the names, -1 is none.

    >>> [(part.name, part.rows.tolist()) for part in slices([0, 1, 0, -1], ["bug", "feature"])]
    [('bug', [0, 2]), ('feature', [1])]
    """
    numbers = np.asarray(codes)
    if numbers.ndim != 1:
        raise InputError(f"slice codes have {numbers.ndim} axes; expected one number per query")
    if numbers.size and not (numbers.min() >= -1 and numbers.max() < len(names)):
        raise InputError(f"slice codes go beyond the {len(names)} names; expected -1 to their last")
    return tuple(Slice(name, np.flatnonzero(numbers == code)) for code, name in enumerate(names))


def intervals_by(
    values: ArrayLike,
    *,
    codes: ArrayLike,
    names: Sequence[str],
    bounds: Bounds | Sequence[Bounds | None] | None = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> tuple[SliceIntervals, ...]:
    """Return the intervals of ``values[query, column]`` for each slice."""
    columns = as_columns(values)
    check_length(codes, len(columns))
    result = []
    for part in slices(codes, names):
        found = bootstrap_intervals(
            columns[part.rows],
            bounds=bounds,
            level=level,
            draws=draws,
            seed=seed,
            clusters=cut(clusters, part),
        )
        result.append(SliceIntervals(part.name, len(part.rows), found))
    return tuple(result)


def compare_by(
    values: ArrayLike,
    *,
    codes: ArrayLike,
    names: Sequence[str],
    systems: Sequence[str],
    metrics: Sequence[str],
    pairs: str = "all",
    correction: str | None = None,
    bounds: Bounds | Sequence[Bounds | None] | None = None,
    level: float = 0.95,
    power: float = 0.8,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    lower_is_better: Collection[str] = (),
) -> tuple[SliceComparison, ...]:
    """Return the comparison of ``values[system, query, metric]`` for each slice.

    Slices are looked at one by one: p values are corrected within a slice, not across slices.
    """
    cube = np.asarray(values, dtype=np.float64)
    if cube.ndim != 3:
        raise InputError(f"scores have {cube.ndim} axes; expected [system, query, metric]")
    check_length(codes, cube.shape[1])
    result = []
    for part in slices(codes, names):
        found = compare(
            cube[:, part.rows],
            systems=systems,
            metrics=metrics,
            pairs=pairs,
            correction=correction,
            bounds=bounds,
            level=level,
            power=power,
            draws=draws,
            seed=seed,
            clusters=cut(clusters, part),
            lower_is_better=lower_is_better,
        )
        result.append(SliceComparison(part.name, found))
    return tuple(result)


def cut(clusters: ArrayLike | None, part: Slice) -> NDArray[Any] | None:
    """Return the cluster labels of the queries of a slice."""
    return None if clusters is None else np.asarray(clusters)[part.rows]


def check_length(codes: ArrayLike, queries: int) -> None:
    """Raise InputError unless there is one code per query."""
    count = np.asarray(codes).shape[:1]
    if count != (queries,):
        raise InputError(f"got {count[0] if count else 0} slice codes; expected {queries}")
