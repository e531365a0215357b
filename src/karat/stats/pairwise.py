"""Every pair of systems on every metric, over the same resamples and the same flips."""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.model.comparison import Difference, Interval, Mean
from karat.stats.anova import two_way_anova
from karat.stats.arrays import FloatArray, paired_differences
from karat.stats.bootstrap import Bounds, bootstrap_intervals
from karat.stats.correction import benjamini_hochberg, holm
from karat.stats.effect import relative_improvement
from karat.stats.maxt import resampled_halves, step_down
from karat.stats.moments import Moments, column_moments
from karat.stats.power import reach
from karat.stats.signflip import Flips, FlipTest, flip_sums, flip_tests, flip_units
from karat.stats.student import t_from_moments
from karat.stats.tukey import randomised_tukey

__all__ = ["Correction", "Pairs", "Plan", "measured"]

Correction = Literal["maxt", "tukey", "holm", "bh", "none"]
Pairs = Literal["all", "baseline"]


class Plan(NamedTuple):
    """What is compared: names, index pairs (baseline, system), and the numbers chosen."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    bounds: list[Bounds | None]
    correction: Correction
    level: float
    power: float
    draws: int
    seed: int
    clusters: ArrayLike | None
    lower_is_better: tuple[str, ...] = ()


def measured(cube: FloatArray, plan: Plan) -> tuple[tuple[Mean, ...], tuple[Difference, ...]]:
    """Return the means and the differences of *plan*, all over the same resamples and flips."""
    systems, queries, metrics = cube.shape
    scores = cube.transpose(1, 0, 2).reshape(queries, systems * metrics)
    gaps = np.empty((queries, len(plan.pairs), metrics))
    for place, (baseline, system) in enumerate(plan.pairs):
        gaps[:, place] = paired_differences(cube[system], cube[baseline])
    differences = gaps.reshape(queries, len(plan.pairs) * metrics)
    intervals = bootstrap_intervals(
        np.concatenate([scores, differences], axis=1),
        bounds=plan.bounds * systems + [mirrored(pair) for pair in plan.bounds] * len(plan.pairs),
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


def mirrored(bounds: Bounds | None) -> Bounds | None:
    """Return the bounds of a difference between two scores within *bounds*."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def difference_entries(
    cube: FloatArray, differences: FloatArray, intervals: Sequence[Interval], plan: Plan
) -> Iterator[Difference]:
    """Yield one entry for each pair and metric, in the order of the columns."""
    units = flip_units(differences, plan.clusters)
    flips = flip_sums(units, draws=plan.draws, seed=plan.seed)
    tests = flip_tests(units, flips, draws=plan.draws)
    corrected = corrected_ps(cube, tests, maxt_ps(flips, differences, plan), plan)
    residual_sd = [residual_deviation(cube[:, :, metric]) for metric in range(len(plan.metrics))]
    found = column_moments(differences, clusters=plan.clusters)
    both = paired_means(cube, plan)
    gains = differences * np.tile(directions(plan), len(plan.pairs))
    wins, losses = (gains > 0).sum(axis=0).tolist(), (gains < 0).sum(axis=0).tolist()
    for column, (interval, moments) in enumerate(zip(intervals, found, strict=True)):
        place, metric = divmod(column, len(plan.metrics))
        baseline, system = plan.pairs[place]
        test, spread = tests[column], residual_sd[metric]
        theirs, ours = both[place, :, metric].tolist() if moments.n else (None, None)
        yield Difference(
            baseline=plan.systems[baseline],
            system=plan.systems[system],
            metric=plan.metrics[metric],
            n=moments.n,
            missing=len(differences) - moments.n,
            baseline_mean=theirs,
            system_mean=ours,
            difference=moments.mean if moments.n else None,
            relative=relative_improvement(ours, theirs),
            interval=interval,
            p=test.p if moments.n else None,
            p_method=test.method if moments.n else "none",
            p_corrected=corrected[column] if moments.n else None,
            p_student=t_from_moments(moments).p,
            effect=moments.mean / moments.sd if moments.varies else None,
            effect_residual=moments.mean / spread if moments.n and spread else None,
            wins=wins[column],
            ties=moments.n - wins[column] - losses[column],
            losses=losses[column],
            detectable=detectable(moments, plan),
        )


def directions(plan: Plan) -> FloatArray:
    """Return for each metric 1, or -1 where less is better."""
    return np.array([-1.0 if name in plan.lower_is_better else 1.0 for name in plan.metrics])


def paired_means(cube: FloatArray, plan: Plan) -> FloatArray:
    """Return ``[pair, baseline or system, metric]``: means over the queries that both have."""
    result = np.empty((len(plan.pairs), 2, len(plan.metrics)))
    for place, pair in enumerate(plan.pairs):
        scores = cube[list(pair)]
        present = ~np.isnan(scores).any(axis=0)
        totals = np.where(present, scores, 0.0).sum(axis=1)
        result[place] = totals / np.maximum(present.sum(axis=0), 1)
    return result


def detectable(moments: Moments, plan: Plan) -> float | None:
    """Return the difference that would be found at the plan's power; None without a variance."""
    if math.isnan(moments.se):
        return None
    return reach(moments.units - 1, level=plan.level, power=plan.power) * moments.se


def residual_deviation(table: FloatArray) -> float | None:
    """Return the residual standard deviation of ``table[system, query]``; None without one."""
    if len(table) < 2:
        return None
    variance = two_way_anova(table.T).residual_variance
    return math.sqrt(variance) if variance else None


def maxt_ps(flips: Flips, differences: FloatArray, plan: Plan) -> list[list[float]]:
    """Return ``[metric][pair]``: p values by step-down maxT, none where the plan does without."""
    if plan.correction != "maxt" or len(plan.pairs) < 2:
        return []
    means = [moments.mean for moments in column_moments(differences)]
    centred = flip_units(differences - means, plan.clusters)
    halves = resampled_halves(flips, centred, seed=plan.seed)
    width = len(plan.metrics)
    columns = range(differences.shape[1])
    return [step_down(flips, columns[metric::width], halves) for metric in range(width)]


def corrected_ps(
    cube: FloatArray, tests: Sequence[FlipTest], maxt: Sequence[Sequence[float]], plan: Plan
) -> list[float]:
    """Return the corrected p value of each column; a metric's pairs are a family.

    A pair without any common query counts with p = 1. A corrected p is never below its raw one.
    """
    result = [test.p for test in tests]
    width = len(plan.metrics)
    for metric in range(width):
        family = list(range(metric, len(tests), width))
        if len(family) < 2 or plan.correction == "none":
            continue
        raw = [tests[column].p for column in family]
        if plan.correction == "maxt":
            found = list(maxt[metric])
        elif plan.correction == "tukey":
            p = randomised_tukey(cube[:, :, metric].T, draws=plan.draws, seed=plan.seed)
            found = [float(p[pair]) for pair in plan.pairs]
        else:
            found = {"holm": holm, "bh": benjamini_hochberg}[plan.correction](raw)
        for column, before, after in zip(family, raw, found, strict=True):
            result[column] = max(before, after)
    return result
