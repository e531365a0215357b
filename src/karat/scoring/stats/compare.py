"""Compare several systems on several metrics; the result is one record."""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.model.columns import repeated
from karat.model.comparison import Comparison
from karat.scoring.stats.arrays import FloatArray
from karat.scoring.stats.bootstrap import Bounds, bounds_per_column, check_level
from karat.scoring.stats.chance import check_draws
from karat.scoring.stats.moments import check_power
from karat.scoring.stats.pairwise import (
    CORRECTIONS,
    PAIRS,
    ComparisonPlan,
    DifferenceColumn,
    compute_entries,
)
from karat.scoring.stats.threads import one_blas_thread

__all__ = ["LetterMark", "compare", "significance_letters"]


DEFAULTS = {"all": "maxt", "lead": "maxt", "baseline": "holm"}
# For more systems, all pairs on all metrics are too many to read, and take minutes.
MOST_PAIRED = 12


@one_blas_thread()
def compare(
    values: ArrayLike,
    *,
    systems: Sequence[str],
    metrics: Sequence[str],
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
    """Return the comparison of ``values[system, query, metric]``, the first system as baseline.

    NaN means not scored: the query is left out of the mean, and out of a difference if either
    system lacks it.

    - *pairs*: ``all``, each system against the first (``baseline``), or all on the first metric and
      those with the first system on the others (``lead``). None is all, and lead from 13 systems.
    - *correction*: over the pairs of one metric. ``maxt`` (step-down, the default), ``tukey``
      (randomised, all pairs only), ``holm`` (the default against a baseline), ``bh``, ``none``. The
      result always has the uncorrected p value too.
    - *bounds*: the range of a score, one pair for all metrics or one per metric.
    - *clusters*: one label per query; queries of a cluster are resampled and flipped together.
    - *lower_is_better*: the metrics of which less is better. Differences stay system minus
    baseline;
      wins and losses are swapped.

    >>> scores = [[[0.5], [0.2], [0.4], [0.6]], [[0.9], [0.5], [0.8], [0.7]]]
    >>> found = compare(scores, systems=["A", "B"], metrics=["ndcg@10"], bounds=(0, 1))
    >>> round(found.differences[0].difference, 3), found.differences[0].p
    (0.3, 0.125)
    """
    cube = as_cube(values, len(systems), len(metrics))
    pairs = pairs or ("all" if len(systems) <= MOST_PAIRED else "lead")
    plan = ComparisonPlan(
        systems=check_names(systems, "system"),
        metrics=check_names(metrics, "metric"),
        columns=columns_of(len(systems), len(metrics), pairs),
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
        metrics=plan.metrics,
        queries=cube.shape[1],
        means=means,
        differences=differences,
        correction=plan.correction,
        pairs=pairs,
        family=len(plan.family(0)),
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


def columns_of(systems: int, metrics: int, pairs: str) -> tuple[DifferenceColumn, ...]:
    """Return the columns to compare, in the order of the systems and then of the metrics."""
    if pairs not in PAIRS:
        raise InputError(f"pairs {pairs!r} is unknown; expected one of {', '.join(PAIRS)}")
    every = (
        DifferenceColumn(baseline, system, metric)
        for baseline, system in combinations(range(systems), 2)
        for metric in range(metrics)
    )
    if pairs == "all":
        return tuple(every)
    return tuple(
        column
        for column in every
        if column.baseline == 0 or (pairs == "lead" and column.metric == 0)
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

    A letter is in ``better_than`` if the system's mean is better and the corrected p value is
    significant. After z the letters are aa, ab, ..., separated by commas.
    """
    letters = {system: letter(place) for place, system in enumerate(comparison.systems)}
    beaten: dict[str, list[str]] = {system: [] for system in comparison.systems}
    for entry in comparison.differences:
        better = comparison.winner(entry) if entry.metric == metric else None
        if better is None or not comparison.significant(entry):
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


def letter(place: int) -> str:
    """Return the letter of the system at *index* from 0.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    head, tail = divmod(place, 26)
    return (letter(head - 1) if head else "") + chr(ord("a") + tail)
