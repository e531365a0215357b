"""Confidence intervals of means: studentised bootstrap, with fallbacks for small samples.

Large samples need no draws. A resample of two values is a binomial count, so its quantiles are
exact. Of other columns the quantiles follow from skewness and kurtosis, by the Cornish-Fisher
expansion of Student's t to the order 1/n (Hall, The Bootstrap and Edgeworth Expansion, 1992,
sections 2.5 and 2.6). All other columns of a call share their resamples, so a table of systems and
metrics costs one matrix product.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.arrays import (
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
from karat.scoring.stats.moments import beta_quantile, incomplete_beta, normal_quantile, t_quantile

# Where the expansion is used. Within these limits its ends differ from those of a million draws by
# less than a hundredth of the interval's width (benchmarks/statistics.py).
LEAST_QUERIES = 300
LEVELS = (0.8, 0.99)
# Skewness and excess kurtosis of the mean of a resample: skewness / sqrt(n) and kurtosis / n.
MOST_SKEWNESS = 0.12
MOST_KURTOSIS = 0.1
# With fewer values beside the two most frequent ones, sums lie on a grid, which the expansion
# does not know.
LEAST_OTHERS = 20
# Scaled values that agree to so many decimals are equal.
DECIMALS = 9
Float32Array = NDArray[np.float32]

# Lower bound of a resample's variance, as a share of the sample's: no division by 0.
LEAST_VARIANCE = 1e-12


def expansion_quantiles(centred: FloatArray, *, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the low and high quantile of the resampled t of each column; NaN if draws are needed.

    *centred* are independent queries minus the mean of their column; a column must vary.

    >>> low, high = expansion_quantiles(np.array([[-0.5], [0.5]] * 200), level=0.95)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (-2.008, 2.008)
    """
    n, width = centred.shape
    quantiles = np.full((2, width), math.nan)
    if n >= LEAST_QUERIES:
        # Sums along contiguous rows do not depend on the number of rows.
        rows = np.ascontiguousarray(centred.T)
        rows = rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True))
        others = np.array([beside_two(row) for row in rows])
        for column in np.flatnonzero(others == 0).tolist():
            quantiles[:, column] = binomial_quantiles(int((rows[column] > 0).sum()), n, level)
        many = np.flatnonzero(others >= LEAST_OTHERS)
        if len(many) and LEVELS[0] <= level <= LEVELS[1]:
            quantiles[:, many] = cornish_fisher(rows[many], level)
    return quantiles[0], quantiles[1]


def beside_two(row: FloatArray) -> int:
    """Return how many values of *row* are neither the most frequent one nor the second.

    >>> beside_two(np.array([0.0, 1.0, 0.5, 1.0, 0.0]))
    1
    """
    _, counts = np.unique(np.round(row, DECIMALS), return_counts=True)
    return len(row) - int(np.sort(counts)[-2:].sum())


def binomial_quantiles(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return the exact quantiles of the resampled t of *n* values, of which *hits* are the larger.

    With k of the larger ones in a resample, t = (k - hits) sqrt((n - 1) / (k (n - k))), which
    rises with k. It is infinite if no value differs.

    >>> binomial_quantiles(2, 400, 0.95)[0]
    -inf
    """
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        # The least k with P(K <= k) >= tail.
        k = bisect_left(range(n), tail, key=lambda k: incomplete_beta(n - k, k + 1, 1 - hits / n))
        spread = k * (n - k) / (n - 1)
        ends.append((k - hits) / math.sqrt(spread) if spread else math.copysign(math.inf, k - hits))
    return ends[0], ends[1]


def cornish_fisher(rows: FloatArray, level: float) -> FloatArray:
    """Return ``[end, column]`` of *rows* with mean 0 and variance 1; NaN beyond the limits."""
    n = rows.shape[1]
    squares = rows * rows
    skewness = (squares * rows).mean(axis=1) / math.sqrt(n)
    kurtosis = ((squares * squares).mean(axis=1) - 3) / n
    ends = []
    far = normal_quantile((1 + level) / 2)
    for z in (-far, far):
        # P(t <= z) = normal(z) + (first + second) density(z), with the variance over n.
        first = skewness * (2 * z * z + 1) / 6
        slope = skewness * 2 * z / 3
        second = z * (
            kurtosis * (z * z - 3) / 12
            - skewness**2 * (z**4 + 2 * z * z - 3) / 18
            - (z * z + 3) / (4 * n)
        )
        t = z - first + first * slope - z * first**2 / 2 - second
        # The t of a sample has its variance over n - 1.
        ends.append(t * math.sqrt((n - 1) / n))
    near = (np.abs(skewness) <= MOST_SKEWNESS) & (kurtosis <= MOST_KURTOSIS)
    return np.where(near, ends, math.nan)


class TQuantiles(NamedTuple):
    """Quantiles of the resampled t, the standard error, and whether draws were needed, by column.

    A resample without variance has a huge t; the caller decides how to treat such a quantile.
    """

    low: FloatArray
    high: FloatArray
    se: FloatArray
    drawn: NDArray[np.bool_]


def studentised_quantiles(
    centred: FloatArray, *, codes: IntArray | None, level: float, draws: int, seed: int
) -> TQuantiles:
    """Return the quantiles of the resampled t of columns that vary.

    A cluster is given by its total and its size; without clusters each query is one of size 1.
    Clusters are always drawn.
    """
    n, width = centred.shape
    if codes is None:
        totals, sizes = centred, np.ones(n)
        low, high = expansion_quantiles(centred, level=level)
    else:
        sizes = np.bincount(codes).astype(np.float64)
        totals = cluster_sums(centred, codes)
        low, high = np.full((2, width), math.nan)
    units = len(sizes)
    scale = np.sqrt((totals * totals).mean(axis=0))
    drawn = np.isnan(low)
    if drawn.any():
        scaled = (totals[:, drawn] / np.where(scale > 0, scale, 1.0)[drawn]).T
        low[drawn], high[drawn] = drawn_quantiles(
            scaled, sizes, level=level, draws=draws, seed=seed
        )
    return TQuantiles(low, high, scale * units / (n * math.sqrt(units - 1)), drawn)


def drawn_quantiles(
    scaled: FloatArray, sizes: FloatArray, *, level: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return the low and high quantile of the t of *draws* resamples, for each row of *scaled*."""
    if (sizes == sizes[0]).all():
        t = even_sizes(scaled, draws=draws, seed=seed)
    else:
        t = uneven_sizes(scaled, sizes, draws=draws, seed=seed)
    t.sort(axis=1)
    # The k-th smallest and largest of B draws, k = (B + 1) alpha / 2: no interpolation for 9,999.
    k = max(1, int((draws + 1) * (1 - level) / 2 + 1e-9))
    root = math.sqrt(len(sizes) - 1)
    low, high = (t[:, index].astype(np.float64) * root for index in (k - 1, draws - k))
    return low, high


def even_sizes(scaled: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return t / sqrt(units - 1) of each column and draw, for clusters of one size.

    With sum A and sum of squares S over the drawn totals, this is A / sqrt(units S - A**2).
    """
    width, units = scaled.shape
    first, first_unit = exact_integers(scaled)
    second, second_unit = exact_integers(scaled * scaled)
    table = np.concatenate([first, second])
    t = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=units):
        sums = table @ counts.T
        # Single precision from here on; elementwise, so the result is the same on every machine.
        total = sums[:width].astype(np.float32)
        total *= first_unit
        spread = sums[width:].astype(np.float32)
        spread *= second_unit * np.float32(units)
        spread -= total * total
        np.maximum(spread, np.float32(LEAST_VARIANCE * units * units), out=spread)
        np.sqrt(spread, out=spread)
        np.divide(total, spread, out=t[:, start : start + len(counts)])
        start += len(counts)
    return t


def uneven_sizes(scaled: FloatArray, sizes: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return t / sqrt(units - 1) of each column and draw, for clusters of different sizes.

    The mean is a ratio of totals to sizes; its residuals are total - ratio * size.
    """
    width, units = scaled.shape
    first, first_unit = exact_integers(scaled)
    second, second_unit = exact_integers(scaled * scaled)
    cross, cross_unit = exact_integers(scaled * sizes)
    table = np.concatenate([first, second, cross, sizes[None], (sizes * sizes)[None]])
    t = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=units):
        sums = table @ counts.T
        total = sums[:width] * first_unit
        ratio = total / sums[-2]
        spread = sums[width : 2 * width] * second_unit + ratio * ratio * sums[-1]
        spread -= 2 * ratio * (sums[2 * width : -2] * cross_unit)
        np.maximum(spread, LEAST_VARIANCE * units, out=spread)
        t[:, start : start + len(counts)] = total / np.sqrt(units * spread)
        start += len(counts)
    return t


def exact_integers(rows: FloatArray) -> tuple[FloatArray, Float32Array]:
    """Return *rows* as integers and the unit of each row; the sum of any resample is exact.

    Units are powers of two, small enough that the number of terms times the largest term is below
    2**53, the limit of exact integers in doubles.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    room = 2.0**52 / (rows.shape[1] * np.where(largest > 0, largest, 1.0))
    unit = np.exp2(-np.floor(np.log2(room)))
    return np.rint(rows / unit), unit.astype(np.float32)


Bounds = tuple[float, float]

# With up to this many deviating values, or half of all, the resampled t is too coarse to be used
# alone: 95 % intervals of close runs then hold the truth in 0.87 to 0.93 of simulations.
FEW = 30
# Resamples of few deviating values may have practically no variance. An end lies no further from
# the mean than this many times Student's reach; with 2.5, gains on 12 % of 15 to 60 queries are
# held in 0.95 of simulations, with 2 in 0.94, and without a limit intervals are twice as wide.
MOST_REACH = 2.5
# With fewer deviating values than this in a column of misses, or of hits, neither the resampled t
# nor Student's holds its level.
SPARSE = 8
# Values of a column that agree to this share of their size are constant.
CONSTANT = 1e-12


@one_blas_thread()
def bootstrap_intervals(
    values: ArrayLike,
    *,
    bounds: Bounds | Sequence[Bounds | None] | None = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> tuple[Interval, ...]:
    """Return one interval for the mean of each column of ``values[query, column]``.

    NaN is skipped. *bounds* (one pair, or one per column) limit the possible mean, one of them may
    be infinite, and interval ends beyond them are clipped. With *clusters*, one label per query,
    whole clusters are resampled. The interval of a column does not depend on the other columns.

    The method is ``bootstrap-t``, or from 300 queries on ``analytic bootstrap-t``, its limit for
    many draws, unless values are too skewed or in clusters. If the data do not suffice for it, it
    is one of these:

    - no value or one value: ``none``;
    - all values equal: ``constant``, from the probability of never sampling a different value. It
      needs bounds, otherwise ``none``. For all-0 or all-1 columns this is Clopper and Pearson's;
    - up to thirty values that differ from an otherwise constant column: ``clopper-pearson`` if they
      are 0 and 1 and so are the bounds. If most values lie at a bound and fewer than eight differ,
      ``gaffke``, which assumes nothing but the bounds; up to thirty, no end lies further out;
    - otherwise, and if the tails are heavy but even (runs that differ on few queries):
      ``bootstrap-t or student-t``, the wider one at each end.

    >>> (interval,) = bootstrap_intervals([0.0] * 100, bounds=(0, 1))
    >>> interval.method, interval.low, round(interval.high, 4)
    ('constant', 0.0, 0.0362)
    """
    columns = as_columns(values)
    check_level(level)
    check_draws(draws)
    limits = bounds_per_column(bounds, columns.shape[1])
    groups = None if clusters is None else cluster_codes(clusters, len(columns))
    result: list[Interval] = [Interval(None, None, level, "none")] * columns.shape[1]
    for rows, members in missing_patterns(columns):
        part = columns[rows][:, members]
        codes = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        intervals = complete_intervals(
            part,
            bounds=[limits[column] for column in members],
            level=level,
            draws=draws,
            seed=seed,
            codes=codes,
        )
        for column, interval in zip(members, intervals, strict=True):
            result[column] = interval
    return tuple(result)


def check_level(level: float) -> None:
    """Raise InputError unless *level* lies between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise InputError(
            f"confidence level {level} is not between 0 and 1; expected a value such as 0.95"
        )


def bounds_per_column(
    bounds: Bounds | Sequence[Bounds | None] | None, columns: int
) -> list[Bounds | None]:
    """Return one pair of bounds, or None, for each column."""
    if bounds is None:
        return [None] * columns
    if len(bounds) == 2 and all(isinstance(end, (int, float)) for end in bounds):
        low, high = bounds
        return [(float(low), float(high))] * columns  # type: ignore[arg-type]
    if len(bounds) != columns:
        raise InputError(f"got bounds for {len(bounds)} columns; expected {columns}")
    return list(bounds)  # type: ignore[arg-type]


def missing_patterns(columns: FloatArray) -> list[tuple[NDArray[np.intp], list[int]]]:
    """Return the columns grouped by which queries they have: (rows, column numbers)."""
    present = ~np.isnan(columns)
    groups: dict[bytes, list[int]] = {}
    for column, key in enumerate(np.packbits(present, axis=0).T):
        groups.setdefault(key.tobytes(), []).append(column)
    return [(np.flatnonzero(present[:, members[0]]), members) for members in groups.values()]


def complete_intervals(
    values: FloatArray,
    *,
    bounds: Sequence[Bounds | None],
    level: float,
    draws: int,
    seed: int,
    codes: IntArray | None,
) -> list[Interval]:
    """Return the intervals of columns without missing values, all of one length."""
    n, width = values.shape
    units = n if codes is None else int(codes.max(initial=-1)) + 1
    if units < 2:
        return [Interval(None, None, level, "none")] * width
    means = values.mean(axis=0)
    spread = values.max(axis=0) - values.min(axis=0)
    varied = spread > CONSTANT * np.abs(values).max(axis=0)
    low_t, high_t, se = np.zeros(width), np.zeros(width), np.zeros(width)
    drawn = np.ones(width, dtype=np.bool_)
    if varied.any():
        centred = values[:, varied] - means[varied]
        low_t[varied], high_t[varied], se[varied], drawn[varied] = studentised_quantiles(
            centred, codes=codes, level=level, draws=draws, seed=seed
        )
    name = "bootstrap-t" if codes is None else "cluster bootstrap-t"
    # Values that vary within clusters of equal means leave a rounding error: treated as none.
    se[se <= CONSTANT * spread] = 0.0
    deviating = deviating_units(values, codes)
    heavy = even_heavy_tails(
        values - means if codes is None else cluster_sums(values - means, codes)
    )
    return [
        column_interval(
            BootstrapColumn(values[:, column], codes, units, int(deviating[column])),
            name=name if drawn[column] else f"analytic {name}",
            heavy=bool(heavy[column]),
            mean=float(means[column]),
            se=float(se[column]),
            quantiles=(float(low_t[column]), float(high_t[column])),
            bounds=bounds[column],
            level=level,
            draws=draws,
            seed=seed,
        )
        for column in range(width)
    ]


class BootstrapColumn(NamedTuple):
    """A column, the clusters of its queries, and how many units there are and deviate."""

    values: FloatArray
    codes: IntArray | None
    units: int
    deviating: int

    @property
    def few(self) -> bool:
        """Whether too few units deviate for the resampled t alone."""
        return self.deviating <= min(FEW, self.units / 2)


def even_heavy_tails(centred: FloatArray) -> NDArray[np.bool_]:
    """Return for each column of units whether Student's t is the better one for its tails.

    The error of the coverage of the bootstrap-t interval is of the order of 3/2 skewness**2 -
    kurtosis (Hall, The Bootstrap and Edgeworth Expansion, 1992, section 3.5): it holds the truth
    too rarely if tails are heavy and the skewness is small, and then Student's does not.

    >>> even_heavy_tails(np.array([[-9.0, -1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [9.0, 1.0]]))
    array([False, False])
    """
    # Sums along contiguous rows do not depend on the number of rows.
    rows = np.ascontiguousarray(centred.T)
    squares = rows * rows
    variance = squares.mean(axis=1)
    variance[variance == 0.0] = 1.0
    skewness = (squares * rows).mean(axis=1) / variance**1.5
    kurtosis = (squares * squares).mean(axis=1) / variance**2 - 3.0
    heavy: NDArray[np.bool_] = kurtosis > 1.5 * skewness**2
    return heavy


def deviating_units(values: FloatArray, codes: IntArray | None) -> NDArray[np.intp]:
    """Return how many queries, or clusters, of each column have a value other than the median.

    The median is the value that more than half of the queries share, if there is one.
    """
    off = values != np.sort(values, axis=0)[len(values) // 2]
    if codes is not None:
        off = cluster_sums(off.astype(np.float64), codes) > 0
    count: NDArray[np.intp] = np.count_nonzero(off, axis=0)
    return count


def column_interval(
    sample: BootstrapColumn,
    *,
    name: str,
    heavy: bool,
    mean: float,
    se: float,
    quantiles: tuple[float, float],
    bounds: Bounds | None,
    level: float,
    draws: int,
    seed: int,
) -> Interval:
    """Return the interval of one column by the method that its data allow.

    *name* is the method behind *quantiles*; *heavy* as of :func:`even_heavy_tails`.
    """
    values, codes, units, deviating = sample
    if values.min() >= values.max() - CONSTANT * np.abs(values).max():
        return constant_interval(float(values[0]), units, bounds, level)
    if se == 0.0:
        return Interval(None, None, level, "none")
    if sample.few and bounds == (0.0, 1.0) and is_binary(values):
        if codes is not None:
            return clustered_hits(values, codes, level)
        return clopper_pearson(int(values.sum()), units, level)
    reach = t_quantile((1 + level) / 2, units - 1) * se
    low = max(mean - quantiles[1] * se, mean - MOST_REACH * reach)
    high = min(mean - quantiles[0] * se, mean + MOST_REACH * reach)
    if sample.few or heavy:
        low, high, name = min(low, mean - reach), max(high, mean + reach), f"{name} or student-t"
    if sample.few and bounds is not None and codes is None and mostly_at_bound(values, bounds):
        ends = gaffke_ends(values, bounds, level=level, draws=draws, seed=seed)
        if deviating < SPARSE:
            return clip_interval(*ends, bounds, level, "gaffke")
        low, high = max(low, ends[0]), min(high, ends[1])
    return clip_interval(low, high, bounds, level, name)


def mostly_at_bound(values: FloatArray, bounds: Bounds) -> bool:
    """Return whether the median of *values* is one of two finite *bounds*."""
    median = float(np.sort(values)[len(values) // 2])
    return median in bounds and all(map(math.isfinite, bounds))


def gaffke_ends(
    values: FloatArray, bounds: Bounds, *, level: float, draws: int, seed: int
) -> Bounds:
    """Return the ends of Gaffke's interval for the mean of *values* within *bounds*.

    The queries not seen count as one more value, at the bound; each value has a random weight, and
    the weights are uniform on all that add up to 1. The interval assumes nothing but the bounds.
    For values of 0 and 1 it is Clopper and Pearson's, for equal ones ``constant``.

    >>> values = np.array([0.0] * 9 + [1.0])
    >>> low, high = gaffke_ends(values, (0, 1), level=0.95, draws=9_999, seed=0)
    >>> round(low, 3), round(high, 2)
    (0.003, 0.45)
    """
    kinds, counts = np.unique(values, return_counts=True)
    rng = generator(seed)
    # Weights of equal values add up to a gamma variable.
    weights = rng.standard_gamma(counts, size=(draws, len(kinds)))
    unseen = rng.standard_exponential(draws)
    # Summed row by row and not as a matrix product: the same digits on every machine.
    sums, total = (weights * kinds).sum(axis=1), weights.sum(axis=1) + unseen
    # The k-th smallest and largest, as in drawn_quantiles.
    k = max(1, int((draws + 1) * (1 - level) / 2 + 1e-9))
    low, high = (np.sort((sums + unseen * bound) / total) for bound in bounds)
    return float(low[k - 1]), float(high[draws - k])


def clip_interval(
    low: float, high: float, bounds: Bounds | None, level: float, method: str
) -> Interval:
    """Return the interval with its ends inside *bounds*."""
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Interval(float(low), float(high), level, method)


def is_binary(values: FloatArray) -> bool:
    """Return whether every value is 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def constant_interval(value: float, units: int, bounds: Bounds | None, level: float) -> Interval:
    """Return the interval for a column in which every value is *value*.

    With probability (1 - share)**units a sample contains none of the share of queries that differ.
    The largest share not ruled out at (1 - level) / 2, moved to either bound, gives the ends.
    """
    if bounds is None or not all(map(math.isfinite, bounds)):
        return Interval(None, None, level, "none")
    share = 1.0 - ((1.0 - level) / 2) ** (1.0 / units)
    low, high = value - share * (value - bounds[0]), value + share * (bounds[1] - value)
    return clip_interval(low, high, bounds, level, "constant")


def clopper_pearson(hits: int, n: int, level: float) -> Interval:
    """Return the exact binomial interval for *hits* of *n*; its coverage is never below *level*.

    >>> interval = clopper_pearson(1, 10, 0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0025, 0.445)
    """
    tail = (1.0 - level) / 2
    low = beta_quantile(tail, hits, n - hits + 1) if hits > 0 else 0.0
    high = beta_quantile(1.0 - tail, hits + 1, n - hits) if hits < n else 1.0
    return Interval(low, high, level, "clopper-pearson")


def clustered_hits(values: FloatArray, codes: IntArray, level: float) -> Interval:
    """Return the interval for the share of hits among queries in clusters.

    Clopper and Pearson's for as many independent queries as have the variance of the clusters, not
    more than there are, and with Student's t for the number of clusters (Korn and Graubard, 1998).
    It covers the share of all queries and the mean share of the clusters, so that one more variant
    of a query does not narrow it.

    >>> interval = clustered_hits(np.array([0.0] + [1.0] * 19), np.arange(20), 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.751, 0.999)
    """
    n, sizes = len(values), np.bincount(codes).astype(np.float64)
    units = len(sizes)
    shares = cluster_sums(values[:, None], codes)[:, 0] / sizes
    student = t_quantile((1 + level) / 2, n - 1) / t_quantile((1 + level) / 2, units - 1)
    tail = (1.0 - level) / 2
    lows, highs = [], []
    for weights in (sizes / n, np.full(units, 1 / units)):
        mean = float(weights @ shares)
        variance = float(((weights * (shares - mean)) ** 2).sum())
        # As many hits and misses as an equal variance needs.
        size = min(mean * (1 - mean) / variance * student**2, n) if variance else n
        lows.append(beta_quantile(tail, mean * size, (1 - mean) * size + 1))
        highs.append(beta_quantile(1.0 - tail, mean * size + 1, (1 - mean) * size))
    return Interval(min(lows), max(highs), level, "cluster clopper-pearson")
