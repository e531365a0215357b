"""Agreement of two judges on the same hits, and of the two orders of systems that they give.

Labels of one query are dependent, so every interval resamples whole queries.
"""

import math
from collections.abc import Callable, Sequence
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
    as_columns,
    check_draws,
    cluster_codes,
    cluster_sums,
    generator,
    one_blas_thread,
    resample_counts,
)
from karat.scoring.stats.bootstrap import (
    Bounds,
    bootstrap_intervals,
    check_level,
    constant_interval,
)
from karat.scoring.stats.signflip import holm, sign_flip

# The cost of a disagreement by the distance of the two grades.
WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "none": lambda distance: (distance > 0).astype(np.float64),
    "linear": lambda distance: distance,
    "quadratic": lambda distance: distance * distance,
}
NORMAL = NormalDist()
# Fewer distinct systems than this have no order to compare.
FEWEST_SYSTEMS = 2


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


class ConfusionTable(NamedTuple):
    """``counts[i][j]``: pairs of the first judge's ``grades[i]`` and the second's ``grades[j]``.

    *shares* are those of each row, None in an empty row, with their *intervals*.
    """

    grades: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float | None, ...], ...]
    intervals: tuple[tuple[Interval, ...], ...]


class BinaryAgreement(NamedTuple):
    """Agreement on relevance: grades from *level* on, or any grade above 0 if it is 0.

    *precision* is the share of the second judge's relevant hits that the first one calls relevant,
    *recall* the share of the first judge's relevant hits that the second one found.
    """

    level: float
    share: float
    interval: Interval
    kappa: float | None
    precision: float | None
    recall: float | None


class OrderAgreement(NamedTuple):
    """How similarly two judges order systems by their means; None if either mean is tied for all.

    *tau* is Kendall's tau-b; *tau_ap* weighs the top of the order more.
    """

    systems: int
    queries: int
    tau: float | None
    interval: Interval
    tau_ap: float | None


class SystemBias(NamedTuple):
    """How much the second judge favours a system over the mean of all systems.

    *p* is corrected for the number of systems (Holm); None without two queries.
    """

    bias: float | None
    interval: Interval
    p: float | None
    n: int


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
    one, other, grades = _graded(first, second)
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
        _number(_kappas(square, cost)[0]),
        interval,
        _number(_kappas(square, _cost(grades, "none"))[0]),
        krippendorff_alpha(one, other),
        share,
    )


def weighted_kappa(first: ArrayLike, second: ArrayLike, *, weights: str = "none") -> float | None:
    """Return Cohen's kappa; None if both judges gave one and the same grade everywhere.

    *weights* is ``none``, ``linear`` or ``quadratic``, of the distance of the two grades.

    >>> weighted_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    one, other, grades = _graded(first, second)
    return _number(_kappas(_counts(one, other, grades)[None], _cost(grades, weights))[0])


def krippendorff_alpha(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Krippendorff's alpha of two judges for grades with squared distances (interval data).

    None if every grade is the same.

    >>> round(krippendorff_alpha([1, 2, 3, 3], [1, 2, 3, 4]), 3)
    0.889
    """
    one, other, grades = _graded(first, second)
    counts = _counts(one, other, grades)
    pairs = counts + counts.T
    margin = pairs.sum(axis=1)
    cost = _cost(grades, "quadratic")
    expected = float((np.outer(margin, margin) * cost).sum())
    if expected == 0.0:
        return None
    return float(1.0 - (margin.sum() - 1.0) * (pairs * cost).sum() / expected)


def confusion_table(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: ArrayLike,
    grades: Sequence[float] = (),
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> ConfusionTable:
    """Return the table of both judges' grades, at least with *grades*, and the shares of its rows.

    >>> confusion_table([0, 0, 1], [0, 1, 1], clusters=["a", "b", "c"]).counts
    ((1, 1), (0, 1))
    """
    one, other, used = _graded(first, second)
    labels = cluster_codes(clusters, len(one))
    known = np.union1d(used, np.asarray(grades, dtype=np.float64))
    counts = _counts(one, other, known)
    shares: list[tuple[float | None, ...]] = []
    intervals: list[tuple[Interval, ...]] = []
    for row, grade in enumerate(known):
        chosen = one == grade
        total = counts[row].sum()
        shares.append(tuple(float(count / total) if total else None for count in counts[row]))
        intervals.append(
            bootstrap_intervals(
                (other[chosen, None] == known).astype(np.float64),
                bounds=(0.0, 1.0),
                level=level,
                draws=draws,
                seed=seed,
                clusters=_needed_clusters(labels[chosen]),
            )
        )
    return ConfusionTable(
        tuple(known.tolist()),
        tuple(tuple(int(count) for count in row) for row in counts),
        tuple(shares),
        tuple(intervals),
    )


def binary_agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: ArrayLike,
    relevant: float = 0.0,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> BinaryAgreement:
    """Return how well two judges agree on what is relevant: grades from *relevant* on, or above 0.

    >>> result = binary_agreement([0, 1, 2, 3], [1, 0, 2, 2], clusters="aabb", relevant=2)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: clusters have shape (); expected one per query, 4
    >>> result = binary_agreement([0, 1, 2, 3], [1, 0, 2, 2], clusters=[*"aabb"], relevant=2)
    >>> result.share, result.kappa, result.precision
    (1.0, 1.0, 1.0)
    """
    one, other, _ = _graded(first, second)
    labels = cluster_codes(clusters, len(one))
    yes, said = (each >= relevant if relevant else each > 0 for each in (one, other))
    both = int(np.count_nonzero(yes & said))
    (interval,) = bootstrap_intervals(
        (yes == said).astype(np.float64),
        bounds=(0.0, 1.0),
        level=level,
        draws=draws,
        seed=seed,
        clusters=_needed_clusters(labels),
    )
    return BinaryAgreement(
        relevant,
        float((yes == said).mean()),
        interval,
        None if np.all(yes == yes[0]) else weighted_kappa(yes, said),
        both / int(said.sum()) if said.any() else None,
        both / int(yes.sum()) if yes.any() else None,
    )


def order_agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> OrderAgreement:
    """Return how similarly two judges order systems; both are scores ``[query, system]``.

    A query counts if every score of both judges is known.

    >>> people = [[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]]
    >>> order_agreement(people, [[0.3, 0.2, 0.9], [0.3, 0.1, 0.7]]).tau
    0.3333333333333333
    """
    one, other = _score_tables(first, second)
    known = ~(np.isnan(one) | np.isnan(other)).any(axis=1)
    one, other = one[known], other[known]
    queries, systems = one.shape
    if systems < FEWEST_SYSTEMS or not queries:
        return OrderAgreement(systems, queries, None, Interval(None, None, level, "none"), None)
    interval = function_interval(
        np.concatenate([one, other], axis=1),
        lambda sums: _taus(sums[:, :systems], sums[:, systems:]),
        bounds=(-1.0, 1.0),
        level=level,
        draws=draws,
        seed=seed,
    )
    means = one.mean(axis=0), other.mean(axis=0)
    return OrderAgreement(systems, queries, kendall_tau_b(*means), interval, tau_ap(*means))


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's tau-b of two lists of scores; None if either has the same score everywhere.

    Scores that agree to twelve digits are tied.

    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    one, other = (np.asarray(each, dtype=np.float64)[None] for each in (first, second))
    return _number(_taus(one, other)[0])


def tau_ap(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Yilmaz's tau_AP of the order by *second* given the true order by *first*.

    For each system below the top: the share of the systems above it that belong above it. A tie in
    *first* counts half. None if *second* ties all systems.

    >>> [round(tau_ap([4, 3, 2, 1], other), 3) for other in ([3, 4, 2, 1], [4, 3, 1, 2])]
    [0.333, 0.778]
    """
    one, other = (_signs(np.asarray(each, dtype=np.float64)) for each in (first, second))
    above = (other < 0).sum(axis=1)
    right = ((other < 0) * (1.0 - one) / 2).sum(axis=1)
    below_top = above > 0
    if not below_top.any():
        return None
    return float(2.0 * (right[below_top] / above[below_top]).mean() - 1.0)


def system_bias(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> tuple[SystemBias, ...]:
    """Return how much the *second* judge favours each system, in scores ``[query, system]``.

    A bias is the mean of (second - first) of a system minus the mean of all systems: a judge that
    is generous to all systems alike has none. A query counts if every score is known. Two systems
    have opposite biases, which is one test: its p value needs no correction.

    >>> bias = system_bias([[0.5, 0.5]] * 9, [[0.7, 0.6]] * 9)
    >>> [(round(each.bias, 3), round(each.p, 4)) for each in bias]
    [(0.05, 0.0039), (-0.05, 0.0039)]
    """
    one, other = _score_tables(first, second)
    known = ~(np.isnan(one) | np.isnan(other)).any(axis=1)
    gap = other[known] - one[known]
    queries, systems = gap.shape
    if not queries or systems < FEWEST_SYSTEMS:
        unknown = SystemBias(None, Interval(None, None, level, "none"), None, queries)
        return tuple(unknown for _ in range(systems))
    excess = gap - gap.mean(axis=1, keepdims=True)
    excess[np.abs(excess) <= TIE] = 0.0
    intervals = bootstrap_intervals(excess, bounds=(-2, 2), level=level, draws=draws, seed=seed)
    ps = [test.p for test in sign_flip(excess, draws=draws, seed=seed)]
    corrected = holm(ps) if systems > FEWEST_SYSTEMS else ps
    means = excess.mean(axis=0).tolist()
    return tuple(
        SystemBias(mean, interval, p, queries)
        for mean, interval, p in zip(means, intervals, corrected, strict=True)
    )


def further_units(interval: Interval, units: int, *, half_width: float) -> int | None:
    """Return how many further units, besides the present *units*, give an interval of *half_width*.

    An estimate: the variance stays as it is, so that the width shrinks with the root of the number.
    None if *interval* has no width to start from.

    >>> further_units(Interval(0.3, 0.5, 0.95, "bca"), 100, half_width=0.05)
    300
    """
    if half_width <= 0:
        raise InputError(f"half-width {half_width} is not above 0")
    if interval.low is None or interval.high is None or interval.method == "constant":
        return None
    now = (interval.high - interval.low) / 2
    return max(0, math.ceil(units * (now / half_width) ** 2 - 1e-9) - units)


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


def _graded(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
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


def _score_tables(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, other = as_columns(first), as_columns(second)
    if one.shape != other.shape:
        raise InputError(
            f"scores have the shapes {one.shape} and {other.shape}; expected the same queries and "
            "systems by both judges"
        )
    return one, other


def _grade_indexes(values: FloatArray, grades: FloatArray) -> IntArray:
    return np.searchsorted(grades, values).astype(np.int64)


def _counts(one: FloatArray, other: FloatArray, grades: FloatArray) -> FloatArray:
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


def _signs(values: FloatArray) -> FloatArray:
    """Return ``sign(values[..., i] - values[..., j])``; 0 if they agree to twelve digits."""
    one, other = values[..., :, None], values[..., None, :]
    difference = one - other
    close = np.abs(difference) <= TIE * np.maximum(np.abs(one), np.abs(other))
    return np.where(close, 0.0, np.sign(difference))


def _taus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return tau-b for each row of two tables ``[draw, system]``; NaN if a row is all ties."""
    one, other = _signs(first), _signs(second)
    both = (one * other).sum(axis=(1, 2))
    scale = np.sqrt((one * one).sum(axis=(1, 2)) * (other * other).sum(axis=(1, 2)))
    defined = scale > 0
    return np.where(defined, both / np.where(defined, scale, 1.0), np.nan)


def _needed_clusters(labels: IntArray) -> IntArray | None:
    """Return *labels*, or None if all differ: single pairs have better intervals."""
    return labels if len(np.unique(labels)) < len(labels) else None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
