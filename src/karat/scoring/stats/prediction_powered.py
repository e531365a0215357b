"""Prediction-powered means: few labels by people, and labels by a language model for every query.

For each query there is a score *f* computed with the labels of the model, and on the human sample
also a score *y* computed with the labels of people. The estimate is ::

    mean of w f over all queries + mean of y - w f over the human sample

(PPI++, Angelopoulos, Duchi and Zrnic 2023; in survey statistics the regression estimator of double
sampling). The first term is precise and biased like the model, the second one measures that bias.
The weight *w* is the slope of y on f in the sample, from 0 (the labels of the model are ignored) to
1. It is the power tuning of PPI++: their lambda is ``w * N / (n + N)`` for n sampled and N other
queries.

Inference is for the population that the queries were drawn from, as for all other intervals here,
and not only for the queries of the dataset. The human sample must be a random sample of them, or of
each stratum.
"""

import math
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
    one_blas_thread,
)
from karat.scoring.stats.bootstrap import (
    Bounds,
    bootstrap_intervals,
    bounds_per_column,
    check_level,
    clip_interval,
)
from karat.scoring.stats.moments import column_moments, t_quantile, t_two_sided
from karat.scoring.stats.signflip import sign_flip

METHOD = "prediction-powered"
# Scores of the model and of people that differ by less agree.
AGREEMENT = 1e-12
# With fewer disagreements than this, their number is not known: as many are assumed. (If none of n
# queries has a disagreement, up to 3 / n of all queries may have one, at 95 % confidence.)
FEWEST_DISAGREEMENTS = 3


class PoweredMean(NamedTuple):
    """The mean of one column, from labels of people and of a model.

    *mean* is None if people judged fewer than two units. *p* tests whether the mean is 0. *weight*
    is the weight of the model's labels, from 0 to 1. *human* counts the queries of the human
    sample, *model* the others. *effective* is the number of queries judged by people alone that
    would give the same standard error *se*.
    """

    mean: float | None
    interval: Interval
    se: float
    p: float | None
    weight: float
    human: int
    model: int
    effective: float


class ColumnPlan(NamedTuple):
    """The settings of one column."""

    bounds: Bounds | None
    level: float
    draws: int
    seed: int
    clustered: bool
    stratified: bool
    weight: float | None


class PowerColumn(NamedTuple):
    """One column: human scores (NaN outside the sample), model scores, clusters and strata."""

    y: FloatArray
    f: FloatArray
    units: IntArray
    strata: IntArray

    @property
    def sampled(self) -> NDArray[np.bool_]:
        """Which queries people judged."""
        return ~np.isnan(self.y)

    @property
    def agrees(self) -> bool:
        """Whether people and the model agree on the whole sample."""
        return not (np.abs(self.y - self.f) > AGREEMENT).any()


class PowerEstimate(NamedTuple):
    """An estimate with its variance, degrees of freedom, skewness and weight.

    *alone* is the variance of the human scores alone, as far as the model's scores tell it.
    """

    mean: float
    variance: float
    df: float
    skewness: float
    weight: float
    alone: float


@one_blas_thread()
def prediction_powered(
    human: ArrayLike,
    model: ArrayLike,
    *,
    bounds: Bounds | Sequence[Bounds | None] | None = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weight: float | None = None,
) -> tuple[PoweredMean, ...]:
    """Return the mean of each column of ``human[query, column]``, estimated from both arrays.

    *human* is NaN for the queries that people did not judge. *model* has the scores computed with
    the labels of the model only; a query without one is left out. To compare two systems, pass the
    differences between their scores.

    - *clusters*: one label per query; the queries of a cluster are one unit.
    - *strata*: one label per query, if people judged a different share of each stratum. Each
      stratum needs two judged units.
    - *weight*: a fixed weight of the model's labels instead of the estimated one.

    The interval is Student's, and the residual of each unit is computed with the weight that is
    estimated without this unit: no query chooses the weight that it is then evaluated with. In two
    cases the interval is that of :func:`bootstrap_intervals`, and p that of the sign-flip test:

    - people judged every query: both use the human scores;
    - the weight is 0, without strata, or all scores are equal: they use the human scores of the
      sample.

    If model and people agree on the whole sample, the weight is 1, and the variance of the
    disagreements that the sample may have missed counts. The interval then contains that of the
    model's scores of all queries, and p is at least theirs: no interval is narrower than with human
    labels for all queries.

    >>> model = np.tile([0.2, 0.4, 0.9, 0.5], 50)
    >>> human = np.where(np.arange(200) < 40, model - 0.1, np.nan)
    >>> (powered,) = prediction_powered(human, model)
    >>> round(powered.mean, 3), powered.weight, powered.human, powered.model
    (0.4, 1.0, 40, 160)
    """
    people, machine = as_columns(human), as_columns(model)
    if people.shape != machine.shape:
        raise InputError(
            f"human scores have shape {people.shape}, model scores {machine.shape}; "
            "expected one score of each for every query and column"
        )
    check_level(level)
    check_draws(draws)
    queries, width = people.shape
    limits = bounds_per_column(bounds, width)
    units = np.arange(queries) if clusters is None else cluster_codes(clusters, queries)
    codes = np.zeros(queries, np.int64) if strata is None else cluster_codes(strata, queries)
    result = []
    for index in range(width):
        known = ~np.isnan(machine[:, index])
        column = PowerColumn(
            people[known, index],
            machine[known, index],
            np.unique(units[known], return_inverse=True)[1],
            np.unique(codes[known], return_inverse=True)[1],
        )
        flags = clusters is not None, strata is not None
        plan = ColumnPlan(limits[index], level, draws, seed, *flags, weight)
        result.append(powered_mean(column, plan))
    return tuple(result)


def powered_mean(column: PowerColumn, plan: ColumnPlan) -> PoweredMean:
    """Return the mean of one column."""
    sampled = column.sampled
    human, model = int(sampled.sum()), int((~sampled).sum())
    nothing = Interval(None, None, plan.level, "none")
    if len(np.unique(column.units[sampled])) < 2:
        return PoweredMean(None, nothing, math.nan, None, math.nan, human, model, math.nan)
    if not model:
        return plain_mean(column.y, sampled, column, plan, 0.0)
    if plan.weight is None and column.agrees:
        return agreeing_mean(column, plan)
    estimated = estimate(column, plan.weight)
    if estimated.weight == 0.0 and not plan.stratified:
        return plain_mean(column.y, sampled, column, plan, 0.0)
    if estimated.variance == 0.0:
        return PoweredMean(
            estimated.mean, nothing, 0.0, None, estimated.weight, human, model, math.nan
        )
    return student_mean(estimated, column, plan)


def agreeing_mean(column: PowerColumn, plan: ColumnPlan) -> PoweredMean:
    """Return the mean of a column in which people and the model agree on the whole sample."""
    estimated = estimate(column, 1.0)
    if estimated.variance == 0.0:
        return plain_mean(column.y, column.sampled, column, plan, 1.0)
    plain = plain_mean(column.f, np.ones(len(column.f), bool), column, plan, 1.0)
    return wider(student_mean(estimated, column, plan), plain)


def student_mean(estimated: PowerEstimate, column: PowerColumn, plan: ColumnPlan) -> PoweredMean:
    """Return *estimated* with Student's interval and test, corrected for skewness."""
    human = int(column.sampled.sum())
    model = len(column.y) - human
    se = math.sqrt(estimated.variance)
    t = t_quantile((1 + plan.level) / 2, estimated.df)
    skewed = se * skew_shift(t, estimated.skewness)
    low, high = (
        estimated.mean - t * se + min(skewed, 0.0),
        estimated.mean + t * se + max(skewed, 0.0),
    )
    mean = clip_interval(estimated.mean, estimated.mean, plan.bounds, plan.level, METHOD).low
    return PoweredMean(
        mean=mean,
        interval=clip_interval(low, high, plan.bounds, plan.level, METHOD),
        se=se,
        p=t_two_sided(unskewed(estimated.mean / se, estimated.skewness), estimated.df),
        weight=estimated.weight,
        human=human,
        model=model,
        effective=min(human * estimated.alone / estimated.variance, human + model),
    )


def wider(powered: PoweredMean, plain: PoweredMean) -> PoweredMean:
    """Return *powered* with an interval that contains that of *plain*, and the larger p value."""
    ends = [each.interval for each in (powered, plain) if each.interval.low is not None]
    low, high = min(each.low or 0.0 for each in ends), max(each.high or 0.0 for each in ends)
    return powered._replace(
        interval=Interval(low, high, powered.interval.level, METHOD),
        p=max(each.p or 0.0 for each in (powered, plain)),
    )


def skew_shift(t: float, skewness: float) -> float:
    """Return by how many standard errors the end at *t* of them is moved on the longer side.

    This is Johnson's correction for skewness (1978) of the end to which the estimate is skewed. The
    other end stays: the skewness of a small sample is too uncertain to move it inwards.
    """
    return skewness * (1 + 2 * t * t) / 6


def unskewed(t: float, skewness: float) -> float:
    """Return the t value whose interval, corrected by `skew_shift`, ends at 0.

    >>> t = 2.0
    >>> round(unskewed(t - skew_shift(t, -0.3), -0.3), 12), unskewed(2.0, 0.3)
    (2.0, 2.0)
    """
    size, share = abs(t), -skewness * math.copysign(1.0, t) / 6
    if share <= 0.0:
        return size
    return max(math.sqrt(max(1 + 8 * share * (size - share), 0.0)) - 1, 0.0) / (4 * share)


def plain_mean(
    values: FloatArray,
    rows: NDArray[np.bool_],
    column: PowerColumn,
    plan: ColumnPlan,
    weight: float,
) -> PoweredMean:
    """Return the plain mean of *values* at *rows*, with the interval and test of such a mean."""
    labels = column.units[rows] if plan.clustered else None
    values = values[rows]
    (interval,) = bootstrap_intervals(
        values,
        bounds=plan.bounds,
        level=plan.level,
        draws=plan.draws,
        seed=plan.seed,
        clusters=labels,
    )
    (moments,) = column_moments(values, clusters=labels)
    (test,) = sign_flip(values, draws=plan.draws, seed=plan.seed, clusters=labels)
    human = int(column.sampled.sum())
    return PoweredMean(
        moments.mean,
        interval,
        moments.se,
        test.p,
        weight,
        human,
        len(column.y) - human,
        float(len(values)),
    )


def estimate(column: PowerColumn, weight: float | None = None) -> PowerEstimate:
    """Return the estimate of one column; without a fixed *weight* it is estimated."""
    y, f, units, strata = column
    sampled, size = column.sampled, len(y)
    sizes, counts = np.bincount(strata), np.bincount(strata, sampled)
    # The queries of a stratum that people judged are one group, the others another.
    groups = 2 * strata + sampled
    members = group_units(units, groups, 2 * len(sizes))
    if (members[1::2] < 2).any():
        raise InputError(
            "people judged fewer than two queries of a stratum; expected two or more of each: "
            "judge further queries, or join strata"
        )
    share = np.where(sampled, (sizes / (counts * size))[strata], 0.0)
    people, machine = (np.where(sampled, centred(values, groups), 0.0) for values in (y, f))
    slope, slopes = leave_one_out(share * people, share * machine, units)
    if weight is not None:
        slope, slopes = weight, np.full(len(slopes), weight)
    of_sample = group_means(y - slope * f, groups)[1::2]
    levels = slope * group_means(f, strata) + of_sample
    mean = float(levels @ sizes) / size
    # The influence of each query on the estimate, for a variance with n - 1 in place of n.
    factor = np.sqrt(members / np.maximum(members - 1, 1))[groups]
    of_all = slope * centred(f, groups) / size
    influence = factor * (share * (people - slopes[units] * machine) + of_all)
    totals = cluster_sums(influence[:, None], units)[:, 0]
    unseen = slope * slope * unseen_disagreement(column)
    between = float(sizes @ (levels - mean) ** 2) / size**2 if len(sizes) > 1 else 0.0
    variance = float(totals @ totals) + unseen + between
    by_group = group_variances(influence, units, groups)
    by_group[1::2] += unseen * counts / counts.sum()
    alone = cluster_sums((factor * share * people)[:, None], units)[:, 0]
    return PowerEstimate(
        mean=mean,
        variance=variance,
        df=freedom(by_group, members - 1 - np.tile([0, weight is None], len(sizes)), between),
        skewness=float((totals**3).sum()) / variance**1.5 if variance else 0.0,
        weight=slope,
        alone=float(alone @ alone) * spread_ratio(column, slope),
    )


def freedom(variances: FloatArray, degrees: FloatArray, known: float) -> float:
    """Return Satterthwaite's degrees of freedom of the sum of *variances* and a *known* one."""
    spread = float((variances * variances / np.maximum(degrees, 1)).sum())
    return float(variances.sum() + known) ** 2 / spread if spread else 1.0


def leave_one_out(y: FloatArray, f: FloatArray, units: IntArray) -> tuple[float, FloatArray]:
    """Return the slope of *y* on *f*, both centred, and the slope without each unit.

    A slope lies within 0 and 1; it is 0 if f does not vary.
    """
    products = cluster_sums(np.stack([y * f, f * f], axis=1), units)
    both, square = products.sum(axis=0)
    rest = square - products[:, 1]
    varies = rest > AGREEMENT * square
    slopes = np.where(varies, both - products[:, 0], 0.0) / np.where(varies, rest, 1.0)
    slope = both / square if square > 0 else 0.0
    return float(np.clip(slope, 0.0, 1.0)), np.clip(slopes, 0.0, 1.0)


def group_means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return the mean of *values* in each group; NaN is skipped, and 0 is that of none."""
    known = ~np.isnan(values)
    counts = np.bincount(groups, known)
    means: FloatArray = np.bincount(groups, np.where(known, values, 0.0)) / np.maximum(counts, 1)
    return means


def centred(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return *values* minus the mean of their group; what is left by rounding is 0."""
    rest = values - group_means(values, groups)[groups]
    noise = AGREEMENT * np.nanmax(np.abs(values))
    result: FloatArray = np.where(np.abs(rest) <= noise, 0.0, rest)
    return result


def group_units(units: IntArray, groups: IntArray, count: int) -> FloatArray:
    """Return how many units have a query in each of *count* groups."""
    pairs = np.unique(groups * len(units) + units)
    return np.bincount(pairs // len(units), minlength=count).astype(np.float64)


def group_variances(influence: FloatArray, units: IntArray, groups: IntArray) -> FloatArray:
    """Return the sum of squared unit totals of each group."""
    pairs, codes = np.unique(groups * len(units) + units, return_inverse=True)
    totals = np.bincount(codes, influence)
    squares = np.bincount(pairs // len(units), totals * totals, minlength=int(groups.max()) + 1)
    return squares.astype(np.float64)


def unseen_disagreement(column: PowerColumn) -> float:
    """Return the variance of disagreements that a small sample may not contain.

    It is that of as many further disagreements as there are fewer than three, each as large as
    those of the sample, or as the difference of two random queries if that is larger. If the sample
    has none, they are as large as the difference of two queries that the model scores differently:
    if the model finds a difference in few queries only, all of them may be mistakes.
    """
    sampled = column.sampled
    gaps = (column.y - column.f)[sampled]
    codes = np.unique(column.units[sampled], return_inverse=True)[1]
    squares = cluster_sums((gaps * gaps)[:, None], codes)[:, 0]
    seen = squares[squares > AGREEMENT * AGREEMENT]
    missing = max(FEWEST_DISAGREEMENTS - len(seen), 0)
    size = 2 * float(column.f.var())
    if len(seen):
        size = max(float(seen.mean()), size)
    else:
        shares = np.unique(column.f, return_counts=True)[1] / len(column.f)
        size /= max(1 - float(shares @ shares), 1 / len(column.f))
    return missing * size / len(squares) ** 2 if size > AGREEMENT * AGREEMENT else 0.0


def spread_ratio(column: PowerColumn, slope: float) -> float:
    """Return the variance of y over all queries, as f tells it, relative to that of the sample."""
    y, f = column.y[column.sampled], column.f[column.sampled]
    known = float(y.var())
    if known == 0.0:
        return 1.0
    return max(known + slope * slope * float(column.f.var() - f.var()), 0.0) / known
