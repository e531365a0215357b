"""Agreement of two judges on the same hits.

Labels of one query are dependent, so every interval resamples whole queries.
"""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.arrays import (
    TIE,
    FloatArray,
    IntArray,
    check_draws,
    cluster_codes,
    cluster_sums,
    generator,
    one_blas_thread,
    resample_counts,
)
from karat.scoring.stats.bootstrap import (
    Bounds,
    check_level,
    constant_interval,
)

# The cost of a disagreement by the distance of the two grades.
WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "none": lambda distance: (distance > 0).astype(np.float64),
    "linear": lambda distance: distance,
    "quadratic": lambda distance: distance * distance,
}
NORMAL = NormalDist()


class Agreement(NamedTuple):
    """Kappa of *pairs* of labels from *clusters* queries; None if the first judge gave one grade.

    *kappa* has the weights of the call; *plain* is Cohen's kappa without weights, *alpha* is
    Krippendorff's alpha with squared distances, and *share* is that of equal grades.
    """

    pairs: int
    clusters: int
    weights: str
    kappa: float | None
    interval: Interval
    plain: float | None
    alpha: float | None
    share: float


def agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: ArrayLike,
    weights: str = "quadratic",
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> Agreement:
    """Return how well the grades of two judges agree; *clusters* has the query of each pair.

    The interval is a BCa bootstrap over queries. If the first judge, the reference, gave a single
    grade, every second judge would have a kappa of 0, so kappa, alpha and interval are unknown.

    >>> result = agreement([0, 1, 2, 3] * 5, [0, 1, 2, 2] * 5, clusters=list(range(5)) * 4)
    >>> result.pairs, result.clusters, round(result.kappa, 3)
    (20, 5, 0.875)
    """
    one, other, grades = checked_grades(first, second)
    codes = cluster_codes(clusters, len(one))
    size = len(grades)
    cells = np.zeros((len(one), size * size))
    cells[
        np.arange(len(one)), _grade_indexes(one, grades) * size + _grade_indexes(other, grades)
    ] = 1.0
    units = cluster_sums(cells, codes)
    cost = _cost(grades, weights)
    share = float((one == other).mean())
    if np.all(one == one[0]):
        nothing = Interval(None, None, level, "none")
        return Agreement(len(one), len(units), weights, None, nothing, None, None, share)
    table = units.sum(axis=0)
    interval = function_interval(
        units,
        lambda sums: _kappas(sums.reshape(-1, size, size), cost),
        bounds=(-1.0, 1.0),
        level=level,
        draws=draws,
        seed=seed,
    )
    square = table.reshape(1, size, size)
    return Agreement(
        len(one),
        len(units),
        weights,
        known_number(_kappas(square, cost)[0]),
        interval,
        known_number(_kappas(square, _cost(grades, "none"))[0]),
        krippendorff_alpha(one, other),
        share,
    )


def weighted_kappa(first: ArrayLike, second: ArrayLike, *, weights: str = "none") -> float | None:
    """Return Cohen's kappa; None if both judges gave one and the same grade everywhere.

    *weights* is ``none``, ``linear`` or ``quadratic``, of the distance of the two grades.

    >>> weighted_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    one, other, grades = checked_grades(first, second)
    return known_number(_kappas(grade_counts(one, other, grades)[None], _cost(grades, weights))[0])


def krippendorff_alpha(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Krippendorff's alpha of two judges for grades with squared distances (interval data).

    None if every grade is the same.

    >>> round(krippendorff_alpha([1, 2, 3, 3], [1, 2, 3, 4]), 3)
    0.889
    """
    one, other, grades = checked_grades(first, second)
    counts = grade_counts(one, other, grades)
    pairs = counts + counts.T
    margin = pairs.sum(axis=1)
    cost = _cost(grades, "quadratic")
    expected = float((np.outer(margin, margin) * cost).sum())
    if expected == 0.0:
        return None
    return float(1.0 - (margin.sum() - 1.0) * (pairs * cost).sum() / expected)


@one_blas_thread()
def function_interval(
    units: FloatArray,
    function: Callable[[FloatArray], FloatArray],
    *,
    bounds: Bounds,
    level: float,
    draws: int,
    seed: int,
) -> Interval:
    """Return the BCa interval of ``function(sums)``, a smooth function of the sums of *units*.

    ``units[unit, column]`` are resampled; *function* maps ``[draw, column]`` to one value per draw,
    NaN where it is undefined. Resamples without a value are skipped; if they are the majority, or
    there are fewer than two units, there is no interval. A value that never changes has the
    interval of a constant.
    """
    check_level(level)
    check_draws(draws)
    nothing = Interval(None, None, level, "none")
    total = units.sum(axis=0, keepdims=True)
    value = float(function(total)[0])
    if len(units) < 2 or math.isnan(value):
        return nothing
    blocks = resample_counts(generator(seed), draws=draws, width=len(units))
    resampled = np.concatenate([function(counts @ units) for counts in blocks])
    resampled = np.sort(resampled[~np.isnan(resampled)])
    if 2 * len(resampled) < draws:
        return nothing
    if resampled[-1] - resampled[0] <= TIE:
        return constant_interval(value, len(units), bounds, level)
    shift = _median_bias(resampled, value)
    skew = _acceleration(function(total - units))
    low, high = (
        float(resampled[_quantile_index(resampled, tail, shift, skew)])
        for tail in ((1.0 - level) / 2, (1.0 + level) / 2)
    )
    return Interval(low, high, level, "bca")


def _median_bias(resampled: FloatArray, value: float) -> float:
    """Return the normal quantile of the share of draws below *value*, ties counted half."""
    below = np.count_nonzero(resampled < value - TIE)
    tied = np.count_nonzero(np.abs(resampled - value) <= TIE)
    share = (below + tied / 2) / len(resampled)
    edge = 0.5 / len(resampled)
    return NORMAL.inv_cdf(min(max(share, edge), 1.0 - edge))


def _acceleration(left_out: FloatArray) -> float:
    """Return the skewness of the jackknife values, 0 if they do not vary."""
    values = left_out[~np.isnan(left_out)]
    centred = values.mean() - values if len(values) else values
    square = float((centred * centred).sum())
    if square <= TIE * TIE:
        return 0.0
    return float((centred**3).sum()) / (6.0 * math.sqrt(square) ** 3)


def _quantile_index(resampled: FloatArray, tail: float, shift: float, skew: float) -> int:
    """Return the index of the sorted draw that is the corrected quantile *tail*."""
    z = shift + NORMAL.inv_cdf(tail)
    share = NORMAL.cdf(shift + z / (1.0 - skew * z))
    index = math.floor(share * (len(resampled) + 1)) - (1 if tail < 0.5 else 0)
    return min(max(index, 0), len(resampled) - 1)


def checked_grades(
    first: ArrayLike, second: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the grades of both judges as arrays, and the distinct grades in order."""
    one, other = (np.asarray(each, dtype=np.float64) for each in (first, second))
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise InputError(
            f"grades have the shapes {one.shape} and {other.shape}; expected two lists of one "
            "length, with at least one grade"
        )
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("grades contain a number that is not finite")
    return one, other, np.union1d(one, other)


def _grade_indexes(values: FloatArray, grades: FloatArray) -> IntArray:
    return np.searchsorted(grades, values).astype(np.int64)


def grade_counts(one: FloatArray, other: FloatArray, grades: FloatArray) -> FloatArray:
    """Return the confusion matrix ``[grade of one, grade of other]``."""
    size = len(grades)
    cells = _grade_indexes(one, grades) * size + _grade_indexes(other, grades)
    return np.bincount(cells, minlength=size * size).reshape(size, size).astype(np.float64)


def _cost(grades: FloatArray, weights: str) -> FloatArray:
    if weights not in WEIGHTS:
        raise InputError(f"unknown weights {weights!r}; expected one of {', '.join(WEIGHTS)}")
    return WEIGHTS[weights](np.abs(grades[:, None] - grades))


def _kappas(tables: FloatArray, cost: FloatArray) -> FloatArray:
    """Return 1 - observed / expected cost of each ``tables[draw, grade, grade]``; NaN for 0 / 0."""
    observed = (tables * cost).sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    expected = np.einsum("di,ij,dj->d", rows, cost, columns) / np.maximum(rows.sum(axis=1), 1.0)
    defined = expected > 0
    return np.where(defined, 1.0 - observed / np.where(defined, expected, 1.0), np.nan)


def known_number(value: float) -> float | None:
    """Return *value*, None for NaN."""
    return None if math.isnan(value) else float(value)
