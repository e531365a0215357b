"""Compare several systems on several metrics by paired tests; the result is one record.

Beside the sign-flip test: Student's t, Wilcoxon, two-way residual variance, randomised Tukey HSD.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.model.comparison import (
    IDENTICAL,
    LARGE_LOSSES,
    ONE_SIZE,
    SAME,
    SMALL_GAINS,
    Comparison,
    Difference,
    Interval,
    Mean,
)
from karat.model.frozen import repeated
from karat.scoring.stats.arrays import (
    FloatArray,
    as_columns,
    block_rows,
    check_draws,
    cluster_codes,
    cluster_sums,
    drop_missing,
    generator,
    one_blas_thread,
    paired_differences,
)
from karat.scoring.stats.bootstrap import (
    Bounds,
    bootstrap_intervals,
    bounds_per_column,
    check_level,
)
from karat.scoring.stats.moments import (
    Moments,
    column_moments,
    normal_tail,
    relative_improvement,
    t_two_sided,
)
from karat.scoring.stats.power import (
    Threshold,
    check_power,
    smallest_mean,
    smallest_share,
)
from karat.scoring.stats.signflip import (
    Flips,
    FlipTest,
    Float32Array,
    PairedScores,
    benjamini_hochberg,
    flip_sums,
    flip_tests,
    flip_units,
    grid_p,
    holm,
    least_sum,
    resample_halves,
    step_down,
    whole_unit,
)

CORRECTIONS = ("maxt", "tukey", "holm", "bh", "none")
PAIRS = ("all", "lead", "baseline")


class TTest(NamedTuple):
    """Student's t, its degrees of freedom and the two-sided p value; None without a variance."""

    t: float | None
    df: int
    p: float | None


def t_from_moments(moments: Moments) -> TTest:
    """Return the test of a mean against 0, from its moments."""
    df = max(moments.units - 1, 0)
    if df and moments.mean == 0.0 and moments.sd == 0.0:
        return TTest(None, df, 1.0)
    # Cluster totals may cancel out although the values vary, hence the second condition.
    if not moments.varies or not moments.se > 1e-12 * abs(moments.mean):
        return TTest(None, df, None)
    t = moments.mean / moments.se
    return TTest(t, df, t_two_sided(t, df))


# Up to this count the distribution of rank sums is computed; beyond it, it is normal.
EXACT_RANKS = 50

WILCOXON_WARNING = (
    "the signed-rank test asks whether differences are symmetric around 0, not whether the mean "
    "differs: many small gains and few large losses that cancel out are called significant"
)


class Wilcoxon(NamedTuple):
    """Rank sums of the positive and the negative differences, the p value and its method."""

    positive: float
    negative: float
    n: int
    p: float
    method: str
    warning: str


def wilcoxon(differences: ArrayLike) -> Wilcoxon:
    """Return the two-sided test; differences of 0 are dropped, equal ones share their mean rank.

    Exact up to fifty differences, ties or not; beyond that normal, with the variance corrected for
    ties and without a continuity correction.

    >>> test = wilcoxon([0.2, 0.1, 0.4, -0.3])
    >>> test.positive, test.negative, test.p
    (7.0, 3.0, 0.625)
    """
    nonzero = drop_missing(differences)
    nonzero = nonzero[nonzero != 0.0]
    n = len(nonzero)
    if n == 0:
        return Wilcoxon(0.0, 0.0, 0, 1.0, "exact", WILCOXON_WARNING)
    ranks, ties = mean_ranks(np.abs(nonzero))
    positive = float(ranks[nonzero > 0].sum())
    negative = float(ranks[nonzero < 0].sum())
    if n <= EXACT_RANKS:
        # Mean ranks are integers or halves: doubled, they are the steps of a grid.
        p = grid_p(np.rint(2 * ranks).astype(np.int64), nonzero > 0)
        return Wilcoxon(positive, negative, n, p, "exact", WILCOXON_WARNING)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    p = normal_tail((positive - negative) / 2 / math.sqrt(variance))
    return Wilcoxon(positive, negative, n, p, "normal", WILCOXON_WARNING)


def mean_ranks(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rank of each value from 1, ties at their mean rank, and the size of each tie."""
    _, group, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group], counts.astype(np.float64)


def residual_variance(values: ArrayLike) -> float | None:
    """Return the residual variance of a two-way ANOVA of ``values[query, system]``.

    Queries that any system lacks are dropped; None for fewer than two queries.

    >>> residual_variance([[1, 2], [2, 4], [3, 3]])
    0.5
    """
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    table = table[~np.isnan(table).any(axis=1)]
    queries, systems = table.shape
    if queries < 2:
        return None
    centred = table - table.mean()
    residuals = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None]
    variance = float((residuals**2).sum()) / ((queries - 1) * (systems - 1))
    # Residuals that are only rounding errors count as none.
    return 0.0 if math.sqrt(variance) <= 1e-12 * float(np.abs(table).max()) else variance


def randomised_tukey(
    values: ArrayLike, *, draws: int = 9_999, seed: int = 0, clusters: ArrayLike | None = None
) -> FloatArray:
    """Return corrected p values ``[system, system]`` for ``values[query, system]``.

    Under the null hypothesis all systems are interchangeable, so the scores of each query are
    shuffled among them. The p value of a pair is the share of shuffles in which the best and the
    worst mean differ at least as much as the pair. Equal gaps count, also if rounding separates
    them. Queries that any system lacks are dropped; the diagonal is 1. With *clusters*, one label
    per query, the scores of a whole cluster are shuffled alike.

    >>> randomised_tukey([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2], [0.9, 0.4]], draws=999).shape
    (2, 2)
    """
    check_draws(draws)
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    complete = ~np.isnan(table).any(axis=1)
    if clusters is None:
        table = table[complete]
    else:
        # A joint shuffle of all queries of a cluster is a shuffle of their totals.
        codes = cluster_codes(clusters, len(table))
        table = cluster_sums(table[complete], codes[complete])
    units, systems = table.shape
    if not units:
        return np.ones((systems, systems))
    numbers, slack = whole_scores(table)
    sums = numbers.sum(axis=0)
    gaps = np.abs(sums[:, None] - sums[None, :])
    reached = np.zeros((systems, systems), dtype=np.int64)
    rng = generator(seed)
    rows = block_rows(units * systems)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        shuffled = rng.permuted(np.broadcast_to(numbers, (count, units, systems)), axis=2)
        totals = shuffled.sum(axis=1)
        ranges = totals.max(axis=1) - totals.min(axis=1)
        reached += np.count_nonzero(ranges[:, None, None] >= gaps - slack, axis=0)
    p = (reached + 1) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    return p


def whole_scores(table: FloatArray) -> tuple[FloatArray, float]:
    """Return the scores as integers whose sums are exact, and the slack of a gap."""
    largest = float(np.abs(table).max())
    numbers = np.rint(table / (largest or 1.0) * whole_unit(len(table)))
    return numbers, 2.0 * len(table)


class DifferenceColumn(NamedTuple):
    """One difference: system minus baseline on a metric, each by its index."""

    baseline: int
    system: int
    metric: int


class ComparisonPlan(NamedTuple):
    """The input of a comparison: names, a column for each difference, and settings."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    columns: tuple[DifferenceColumn, ...]
    bounds: list[Bounds | None]
    correction: str
    level: float
    power: float
    draws: int
    seed: int
    clusters: ArrayLike | None
    lower_is_better: tuple[str, ...] = ()
    empty: frozenset[int] = frozenset()

    @property
    def uses_maxt(self) -> bool:
        """Whether pairs are corrected by step-down maxT."""
        return self.correction == "maxt" and len(self.systems) > 2

    def family(self, metric: int) -> list[int]:
        """Return the columns of *metric*, which are corrected together.

        The columns of *empty*, pairs without a common query, are not tested.
        """
        return [
            index
            for index, column in enumerate(self.columns)
            if column.metric == metric and index not in self.empty
        ]


def compute_entries(
    cube: FloatArray, plan: ComparisonPlan
) -> tuple[tuple[Mean, ...], tuple[Difference, ...]]:
    """Return the means and the differences of *plan*, with shared resamples and flips."""
    systems, queries, metrics = cube.shape
    scores = cube.transpose(1, 0, 2).reshape(queries, systems * metrics)
    differences = np.empty((queries, len(plan.columns)))
    for index, (baseline, system, metric) in enumerate(plan.columns):
        pair = cube[system, :, metric], cube[baseline, :, metric]
        differences[:, index] = paired_differences(*pair)
    intervals = bootstrap_intervals(
        np.concatenate([scores, differences], axis=1),
        bounds=plan.bounds * systems
        + [difference_bounds(plan.bounds[column.metric]) for column in plan.columns],
        level=plan.level,
        draws=plan.draws,
        seed=plan.seed,
        clusters=plan.clusters,
    )
    unscored = np.flatnonzero(np.isnan(differences).all(axis=0))
    plan = plan._replace(empty=frozenset(unscored.tolist()))
    names = product(plan.systems, plan.metrics)
    means = tuple(
        Mean(*name, moments.mean if moments.n else None, interval, moments.n, queries - moments.n)
        for name, moments, interval in zip(names, column_moments(scores), intervals, strict=False)
    )
    entries = difference_entries(cube, differences, intervals[len(means) :], plan)
    return means, tuple(entries)


def difference_bounds(bounds: Bounds | None) -> Bounds | None:
    """Return the bounds of a difference between two scores within *bounds*."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def difference_entries(
    cube: FloatArray, differences: FloatArray, intervals: Sequence[Interval], plan: ComparisonPlan
) -> Iterator[Difference]:
    """Yield one entry for each pair and metric, in the order of the columns."""
    units = flip_units(differences, plan.clusters)
    paired = paired_scores(cube, plan)
    flips = flip_sums(units, draws=plan.draws, seed=plan.seed, paired=paired)
    tests = flip_tests(units, flips, draws=plan.draws)
    halves = centred_resamples(cube, flips, differences, plan)
    families = [plan.family(metric) for metric in range(len(plan.metrics))]
    maxt = [step_down(flips, family, halves) for family in families] if plan.uses_maxt else []
    corrected = corrected_ps(cube, tests, maxt, plan)
    limits = thresholds(flips, halves, plan)
    residual_sd = [residual_deviation(cube[:, :, metric]) for metric in range(len(plan.metrics))]
    all_moments = column_moments(differences, clusters=plan.clusters)
    both = paired_means(cube, plan)
    gains = differences * directions(plan)
    wins, losses = (gains > 0).sum(axis=0).tolist(), (gains < 0).sum(axis=0).tolist()
    for index, (column, interval, moments) in enumerate(
        zip(plan.columns, intervals, all_moments, strict=True)
    ):
        test, spread = tests[index], residual_sd[column.metric]
        theirs, ours = both[index].tolist() if moments.n else (None, None)
        entry = Difference(
            baseline=plan.systems[column.baseline],
            system=plan.systems[column.system],
            metric=plan.metrics[column.metric],
            n=moments.n,
            missing=len(differences) - moments.n,
            baseline_mean=theirs,
            system_mean=ours,
            difference=moments.mean if moments.n else None,
            relative=relative_improvement(ours, theirs),
            interval=_unless_identical(interval, moments),
            p=test.p if moments.n else None,
            p_method=test.method if moments.n else "none",
            p_corrected=corrected[index] if moments.n else None,
            p_student=t_from_moments(moments).p,
            effect=moments.mean / moments.sd if moments.varies else None,
            effect_residual=moments.mean / spread if moments.n and spread else None,
            wins=wins[index],
            ties=moments.n - wins[index] - losses[index],
            losses=losses[index],
            detectable=detectable(
                moments,
                test,
                limits[column.metric],
                size=float(np.abs(units[:, index]).max(initial=0.0)),
                power=plan.power,
                bounds=plan.bounds[column.metric],
            ),
            changed=test.nonzero,
            caution=caution(differences[:, index], units[:, index], plan.bounds[column.metric]),
        )
        yield replace(entry, detectable=None) if _refutes_detectable(entry) else entry


def _refutes_detectable(entry: Difference) -> bool:
    """Return whether *entry* is as large as it calls detectable, and its interval includes 0.

    That happens if nearly all of a few queries change by the same small amount: the bounds of the
    metric leave room for one large loss.
    """
    size = abs(entry.difference or 0.0)
    return entry.detectable is not None and size >= entry.detectable - SAME and entry.is_vetoed


def paired_scores(cube: FloatArray, plan: ComparisonPlan) -> PairedScores:
    """Return the scores of all systems and metrics, and the two behind each column."""
    systems, queries, metrics = cube.shape
    scores = flip_units(cube.transpose(1, 0, 2).reshape(queries, systems * metrics), plan.clusters)
    pairs = np.array(plan.columns, dtype=np.int64).reshape(-1, 3)
    largest = np.abs(scores).reshape(-1, systems, metrics).max(axis=(0, 1), initial=0.0)
    return PairedScores(
        scores=scores,
        first=pairs[:, 1] * metrics + pairs[:, 2],
        second=pairs[:, 0] * metrics + pairs[:, 2],
        largest=np.tile(np.where(largest > 0, largest, 1.0), systems),
    )


def _unless_identical(interval: Interval, moments: Moments) -> Interval:
    """Return *interval*, but none for two systems with the same score on every query.

    Their difference on other queries cannot be estimated from these.
    """
    same = interval.method == "constant" or moments.sd == 0.0
    if same and moments.mean == 0:
        return Interval(None, None, interval.level, IDENTICAL)
    return interval


def directions(plan: ComparisonPlan) -> FloatArray:
    """Return 1 for each column, or -1 if less is better."""
    signs = [-1.0 if name in plan.lower_is_better else 1.0 for name in plan.metrics]
    return np.array([signs[column.metric] for column in plan.columns])


def paired_means(cube: FloatArray, plan: ComparisonPlan) -> FloatArray:
    """Return ``[column, baseline or system]``: means over the common queries."""
    result = np.empty((len(plan.columns), 2))
    for index, (baseline, system, metric) in enumerate(plan.columns):
        scores = cube[[baseline, system], :, metric]
        present = ~np.isnan(scores).any(axis=0)
        totals = np.where(present, scores, 0.0).sum(axis=1)
        result[index] = totals / max(int(present.sum()), 1)
    return result


def thresholds(
    flips: Flips, halves: Mapping[int, Float32Array], plan: ComparisonPlan
) -> list[Threshold]:
    """Return when a pair of each metric is significant after the correction."""
    alone = round(1 - plan.level, 12)
    limits = []
    for metric in range(len(plan.metrics)):
        family = plan.family(metric)
        if plan.correction in {"maxt", "tukey"} and len(family) > 1:
            limits.append(Threshold(alone, least_sum(flips, family, halves, level=alone)))
        else:
            pairs = 1 if plan.correction == "none" else max(len(family), 1)
            limits.append(Threshold(alone / pairs))
    return limits


def detectable(
    moments: Moments,
    test: FlipTest,
    threshold: Threshold,
    *,
    size: float,
    power: float,
    bounds: Bounds | None,
) -> float | None:
    """Return the difference that is significant at *threshold* with *power*.

    *size* is that of the largest difference of a unit. None without a variance, and if not even the
    largest difference within the *bounds* of the metric is detected.
    """
    if not test.nonzero:
        return None
    if test.method == ONE_SIZE:
        steps = smallest_share(moments.units, test.nonzero, threshold, power=power)
        difference = None if steps is None else steps * size / moments.n
    else:
        difference = smallest_mean(moments, threshold, changed=test.nonzero, power=power)
    low, high = bounds or (-math.inf, math.inf)
    return difference if difference is not None and difference <= high - low else None


# Beyond these limits false alarms are frequent; see design/0003 for how often each one is exceeded.
MOST_SKEWED = 0.2
FAILED_QUERIES = 3
LARGE_GAIN = 0.3


def caution(differences: FloatArray, units: FloatArray, bounds: Bounds | None) -> str:
    """Return why a significant mean of *differences* may be a false alarm, or "".

    The skewness of the mean of *units* (queries or cluster totals) may be strong, and against the
    mean, with losses that are larger than the gains. If no query shows a large gain within the
    *bounds* of the metric, large losses may be missing as well: up to three among as many queries
    are plausible.
    """
    known = differences[~np.isnan(differences)]
    total = float(known.sum())
    if not total:
        return ""
    gains, centred = known * np.sign(total), (units - units.mean()) * np.sign(total)
    # Skewness / sqrt(n) of n values is the sum of their cubes over the cube of their length.
    length = math.sqrt(float((centred**2).sum()))
    varies = length > 1e-12 * float(np.abs(units).max())
    skewed = varies and float((centred**3).sum()) / length**3 < -MOST_SKEWED
    # Without a loss, or with small ones, the tail is only one of smaller gains.
    losses = gains[gains < 0]
    if skewed and losses.size and -losses.mean() > gains[gains > 0].mean():
        return LARGE_LOSSES
    span = bounds[1] - bounds[0] if bounds else math.inf
    small = (
        math.isfinite(span)
        and abs(total) < FAILED_QUERIES * span
        and float(gains.max()) < LARGE_GAIN * span
    )
    return SMALL_GAINS if small else ""


def residual_deviation(table: FloatArray) -> float | None:
    """Return the residual standard deviation of ``table[system, query]``; None if undefined."""
    if len(table) < 2:
        return None
    variance = residual_variance(table.T)
    return math.sqrt(variance) if variance else None


def centred_resamples(
    cube: FloatArray, flips: Flips, differences: FloatArray, plan: ComparisonPlan
) -> Mapping[int, Float32Array]:
    """Return the resamples of the columns for maxT, none if the plan does not use it."""
    if not plan.uses_maxt:
        return {}
    means = [moments.mean for moments in column_moments(differences)]
    centred = flip_units(differences - means, plan.clusters)
    totals = np.where(np.isnan(cube), 0.0, cube).sum(axis=1, keepdims=True)
    paired = paired_scores(cube - totals / max(cube.shape[1], 1), plan)
    return resample_halves(flips, centred, seed=plan.seed, paired=paired)


def corrected_ps(
    cube: FloatArray,
    tests: Sequence[FlipTest],
    maxt: Sequence[Sequence[float]],
    plan: ComparisonPlan,
) -> list[float]:
    """Return the corrected p value of each column; the tested pairs of a metric are a family.

    A corrected p value is never below its raw one.
    """
    result = [test.p for test in tests]
    for metric in range(len(plan.metrics)):
        family = plan.family(metric)
        if len(family) < 2 or plan.correction == "none":
            continue
        raw = [tests[column].p for column in family]
        if plan.correction == "maxt":
            corrected = list(maxt[metric])
        elif plan.correction == "tukey":
            p = randomised_tukey(
                cube[:, :, metric].T, draws=plan.draws, seed=plan.seed, clusters=plan.clusters
            )
            corrected = [float(p[plan.columns[column][:2]]) for column in family]
        else:
            corrected = {"holm": holm, "bh": benjamini_hochberg}[plan.correction](raw)
        for column, before, after in zip(family, raw, corrected, strict=True):
            result[column] = max(before, after)
    return result


DEFAULTS = {"all": "maxt", "lead": "maxt", "baseline": "holm"}
# For more systems, all pairs on all metrics are too many to read, and take minutes.
MOST_PAIRED = 12


@one_blas_thread()
def compare(
    values: ArrayLike,
    *,
    systems: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None = None,
    pairs: str | None = None,
    correction: str | None = None,
    bounds: Bounds | Sequence[Bounds | None] | None = None,
    level: float = 0.95,
    power: float = 0.8,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    lower_is_better: Collection[str] = (),
) -> Comparison:
    """Return the comparison of ``values[system, query, metric]``.

    NaN means not scored: the query is left out of the mean, and out of a difference if either
    system lacks it.

    - *baseline*: the system that the others are compared with. None is the first one with a score
      on the first metric, or the first one if there is none.
    - *pairs*: ``all``, each system against the baseline (``baseline``), or all on the first metric
      and those with the baseline on the others (``lead``). None is all, and lead from 13 systems.
    - *correction*: over the pairs of one metric. ``maxt`` (step-down, the default), ``tukey``
      (randomised, all pairs only), ``holm`` (the default against a baseline), ``bh``, ``none``. The
      result always has the uncorrected p value too.
    - *bounds*: the range of a score, one pair for all metrics or one per metric.
    - *clusters*: one label per query; queries of a cluster are resampled and flipped together.
    - *lower_is_better*: the metrics of which less is better. Differences stay system minus
    baseline;
      wins and losses are swapped.

    >>> scores = [[[0.5], [0.2], [0.4], [0.6]], [[0.9], [0.5], [0.8], [0.7]]]
    >>> comparison = compare(scores, systems=["A", "B"], metrics=["ndcg@10"], bounds=(0, 1))
    >>> round(comparison.differences[0].difference, 3), comparison.differences[0].p
    (0.3, 0.125)
    """
    cube = as_cube(values, len(systems), len(metrics))
    pairs = pairs or ("all" if len(systems) <= MOST_PAIRED else "lead")
    names = check_names(systems, "system")
    first = baseline_index(cube, names, baseline)
    plan = ComparisonPlan(
        systems=names,
        metrics=check_names(metrics, "metric"),
        columns=columns_of(len(systems), len(metrics), pairs, baseline=first),
        bounds=bounds_per_column(bounds, len(metrics)),
        correction=choose_correction(correction, pairs),
        level=level,
        power=power,
        draws=draws,
        seed=seed,
        clusters=clusters,
        lower_is_better=check_metrics(metrics, lower_is_better),
    )
    check_level(level)
    check_draws(draws)
    check_power(power)
    means, differences = compute_entries(cube, plan)
    return Comparison(
        systems=plan.systems,
        baseline=plan.systems[first],
        metrics=plan.metrics,
        queries=cube.shape[1],
        means=means,
        differences=differences,
        correction=plan.correction,
        pairs=pairs,
        family=sum(entry.metric == plan.metrics[0] and entry.n > 0 for entry in differences),
        level=level,
        power=power,
        draws=draws,
        seed=seed,
        lower_is_better=plan.lower_is_better,
    )


def as_cube(values: ArrayLike, systems: int, metrics: int) -> FloatArray:
    """Return *values* as floats ``[system, query, metric]``; raise InputError if they are not."""
    cube = np.asarray(values, dtype=np.float64)
    if cube.ndim != 3 or (cube.shape[0], cube.shape[2]) != (systems, metrics):
        expected = f"{systems} systems, queries, {metrics} metrics"
        raise InputError(f"scores have shape {cube.shape}; expected {expected}")
    if np.isinf(cube).any():
        raise InputError("scores contain an infinite number; expected finite numbers, or NaN")
    return cube


def check_names(names: Sequence[str], kind: str) -> tuple[str, ...]:
    """Return *names* unchanged; raise InputError if there are none or duplicates."""
    if not names:
        raise InputError(f"no {kind} to compare; expected one or more")
    if twice := repeated(names):
        raise InputError(f"{kind} {twice[0]!r} is given twice; expected names that differ")
    return tuple(names)


def check_metrics(metrics: Sequence[str], chosen: Collection[str]) -> tuple[str, ...]:
    """Return the *chosen* metrics in the order of *metrics*; raise InputError for unknown ones."""
    unknown = sorted(set(chosen).difference(metrics))
    if unknown:
        raise InputError(
            f"lower is better on {unknown[0]!r}, which is not compared; "
            f"expected some of {', '.join(metrics)}"
        )
    return tuple(metric for metric in metrics if metric in chosen)


def baseline_index(cube: FloatArray, systems: Sequence[str], chosen: str | None) -> int:
    """Return the index of the *chosen* baseline, or of the first system with a score that leads.

    A baseline without a score on the first metric would leave every change on it unknown.
    """
    if chosen is not None:
        if chosen not in systems:
            raise InputError(
                f"baseline {chosen!r} is unknown; expected one of {', '.join(systems)}"
            )
        return systems.index(chosen)
    scored = ~np.isnan(cube[:, :, :1]).all(axis=(1, 2))
    return int(np.argmax(scored))


def columns_of(
    systems: int, metrics: int, pairs: str, *, baseline: int = 0
) -> tuple[DifferenceColumn, ...]:
    """Return the columns to compare, in the order of the systems and then of the metrics.

    In each pair with *baseline* it is the one that is subtracted.
    """
    if pairs not in PAIRS:
        raise InputError(f"pairs {pairs!r} is unknown; expected one of {', '.join(PAIRS)}")
    every = (
        DifferenceColumn(*(pair[::-1] if pair[1] == baseline else pair), metric)
        for pair in combinations(range(systems), 2)
        for metric in range(metrics)
    )
    if pairs == "all":
        return tuple(every)
    return tuple(
        column
        for column in every
        if column.baseline == baseline or (pairs == "lead" and column.metric == 0)
    )


def choose_correction(correction: str | None, pairs: str) -> str:
    """Return the correction with this name, or the default for *pairs*."""
    if correction is None:
        return DEFAULTS[pairs]
    if correction not in CORRECTIONS or (correction == "tukey" and pairs != "all"):
        raise InputError(
            f"correction {correction!r} cannot be used with pairs {pairs!r}; expected one of "
            f"{', '.join(CORRECTIONS)} (tukey for all pairs only)"
        )
    return correction


class LetterMark(NamedTuple):
    """A system, its own letter, and the letters of the systems that it is better than."""

    system: str
    letter: str
    better_than: str


def significance_letters(comparison: Comparison, metric: str) -> tuple[LetterMark, ...]:
    """Return one row per system, in order; letters are a, b, c, ... by the order of the systems.

    A letter is in ``better_than`` if the system's mean is better and the difference is
    significant. After z the letters are aa, ab, ..., separated by commas.
    """
    letters = {system: letter(index) for index, system in enumerate(comparison.systems)}
    beaten: dict[str, list[str]] = {system: [] for system in comparison.systems}
    for entry in comparison.differences:
        better = comparison.winner(entry) if entry.metric == metric else None
        if better is None or not entry.is_significant:
            continue
        beaten[better].append(entry.baseline if better == entry.system else entry.system)
    separator = "" if len(letters) <= 26 else ","
    return tuple(
        LetterMark(
            system,
            letters[system],
            separator.join(
                letters[other] for other in comparison.systems if other in beaten[system]
            ),
        )
        for system in comparison.systems
    )


def letter(index: int) -> str:
    """Return the letter of the system at *index*, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    head, tail = divmod(index, 26)
    return (letter(head - 1) if head else "") + chr(ord("a") + tail)
