"""Compare every pair of systems on every metric, with shared resamples and sign flips."""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.model.comparison import Difference, Interval, Mean
from karat.scoring.stats.arrays import FloatArray, paired_differences
from karat.scoring.stats.bootstrap import Bounds, bootstrap_intervals
from karat.scoring.stats.maxt import benjamini_hochberg, holm, resample_halves, step_down
from karat.scoring.stats.moments import Moments, column_moments, reach, relative_improvement
from karat.scoring.stats.signflip import Flips, FlipTest, flip_sums, flip_tests, flip_units
from karat.scoring.stats.tests import randomised_tukey, residual_variance, t_from_moments

__all__ = ["CORRECTIONS", "PAIRS", "ComparisonPlan", "DifferenceColumn", "compute_entries"]

CORRECTIONS = ("maxt", "tukey", "holm", "bh", "none")
PAIRS = ("all", "lead", "baseline")


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

    def family(self, metric: int) -> list[int]:
        """Return the columns of *metric*, which are corrected together."""
        return [place for place, column in enumerate(self.columns) if column.metric == metric]


def compute_entries(
    cube: FloatArray, plan: ComparisonPlan
) -> tuple[tuple[Mean, ...], tuple[Difference, ...]]:
    """Return the means and the differences of *plan*, with shared resamples and flips."""
    systems, queries, metrics = cube.shape
    scores = cube.transpose(1, 0, 2).reshape(queries, systems * metrics)
    differences = np.empty((queries, len(plan.columns)))
    for place, (baseline, system, metric) in enumerate(plan.columns):
        pair = cube[system, :, metric], cube[baseline, :, metric]
        differences[:, place] = paired_differences(*pair)
    intervals = bootstrap_intervals(
        np.concatenate([scores, differences], axis=1),
        bounds=plan.bounds * systems
        + [difference_bounds(plan.bounds[column.metric]) for column in plan.columns],
        level=plan.level,
        draws=plan.draws,
        seed=plan.seed,
        clusters=plan.clusters,
    )
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
    flips = flip_sums(units, draws=plan.draws, seed=plan.seed)
    tests = flip_tests(units, flips, draws=plan.draws)
    corrected = corrected_ps(cube, tests, maxt_ps(flips, differences, plan), plan)
    residual_sd = [residual_deviation(cube[:, :, metric]) for metric in range(len(plan.metrics))]
    found = column_moments(differences, clusters=plan.clusters)
    both = paired_means(cube, plan)
    gains = differences * directions(plan)
    wins, losses = (gains > 0).sum(axis=0).tolist(), (gains < 0).sum(axis=0).tolist()
    for place, (column, interval, moments) in enumerate(
        zip(plan.columns, intervals, found, strict=True)
    ):
        test, spread = tests[place], residual_sd[column.metric]
        theirs, ours = both[place].tolist() if moments.n else (None, None)
        yield Difference(
            baseline=plan.systems[column.baseline],
            system=plan.systems[column.system],
            metric=plan.metrics[column.metric],
            n=moments.n,
            missing=len(differences) - moments.n,
            baseline_mean=theirs,
            system_mean=ours,
            difference=moments.mean if moments.n else None,
            relative=relative_improvement(ours, theirs),
            interval=interval,
            p=test.p if moments.n else None,
            p_method=test.method if moments.n else "none",
            p_corrected=corrected[place] if moments.n else None,
            p_student=t_from_moments(moments).p,
            effect=moments.mean / moments.sd if moments.varies else None,
            effect_residual=moments.mean / spread if moments.n and spread else None,
            wins=wins[place],
            ties=moments.n - wins[place] - losses[place],
            losses=losses[place],
            detectable=detectable(moments, plan, column.metric),
        )


def directions(plan: ComparisonPlan) -> FloatArray:
    """Return 1 for each column, or -1 if less is better."""
    signs = [-1.0 if name in plan.lower_is_better else 1.0 for name in plan.metrics]
    return np.array([signs[column.metric] for column in plan.columns])


def paired_means(cube: FloatArray, plan: ComparisonPlan) -> FloatArray:
    """Return ``[column, baseline or system]``: means over the common queries."""
    result = np.empty((len(plan.columns), 2))
    for place, (baseline, system, metric) in enumerate(plan.columns):
        scores = cube[[baseline, system], :, metric]
        present = ~np.isnan(scores).any(axis=0)
        totals = np.where(present, scores, 0.0).sum(axis=1)
        result[place] = totals / max(int(present.sum()), 1)
    return result


def detectable(moments: Moments, plan: ComparisonPlan, metric: int) -> float | None:
    """Return the difference that is detected with the plan's power.

    None without a variance, and if it is outside the range of *metric*.
    """
    if math.isnan(moments.se) or moments.se == 0:
        return None
    low, high = plan.bounds[metric] or (-math.inf, math.inf)
    found = reach(moments.units - 1, level=plan.level, power=plan.power) * moments.se
    return found if found < high - low else None


def residual_deviation(table: FloatArray) -> float | None:
    """Return the residual standard deviation of ``table[system, query]``; None if undefined."""
    if len(table) < 2:
        return None
    variance = residual_variance(table.T)
    return math.sqrt(variance) if variance else None


def maxt_ps(flips: Flips, differences: FloatArray, plan: ComparisonPlan) -> list[list[float]]:
    """Return p values by metric and pair: step-down maxT, empty if the plan does not use it."""
    if plan.correction != "maxt" or len(plan.systems) < 3:
        return []
    means = [moments.mean for moments in column_moments(differences)]
    centred = flip_units(differences - means, plan.clusters)
    halves = resample_halves(flips, centred, seed=plan.seed)
    families = map(plan.family, range(len(plan.metrics)))
    return [step_down(flips, family, halves) for family in families]


def corrected_ps(
    cube: FloatArray,
    tests: Sequence[FlipTest],
    maxt: Sequence[Sequence[float]],
    plan: ComparisonPlan,
) -> list[float]:
    """Return the corrected p value of each column; the pairs of a metric are a family.

    A pair without a common query counts with p = 1. A corrected p value is never below its raw one.
    """
    result = [test.p for test in tests]
    for metric in range(len(plan.metrics)):
        family = plan.family(metric)
        if len(family) < 2 or plan.correction == "none":
            continue
        raw = [tests[column].p for column in family]
        if plan.correction == "maxt":
            found = list(maxt[metric])
        elif plan.correction == "tukey":
            p = randomised_tukey(
                cube[:, :, metric].T, draws=plan.draws, seed=plan.seed, clusters=plan.clusters
            )
            found = [float(p[plan.columns[column][:2]]) for column in family]
        else:
            found = {"holm": holm, "bh": benjamini_hochberg}[plan.correction](raw)
        for column, before, after in zip(family, raw, found, strict=True):
            result[column] = max(before, after)
    return result
