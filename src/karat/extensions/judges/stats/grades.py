"""Where the grades of two judges differ, which hits both call relevant, and how many more to judge.

Labels of one query are dependent, so every interval resamples whole queries.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.agreement import checked_grades, grade_counts, weighted_kappa
from karat.scoring.stats.arrays import IntArray, cluster_codes
from karat.scoring.stats.bootstrap import bootstrap_intervals


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
    one, other, used = checked_grades(first, second)
    labels = cluster_codes(clusters, len(one))
    known = np.union1d(used, np.asarray(grades, dtype=np.float64))
    counts = grade_counts(one, other, known)
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
    one, other, _ = checked_grades(first, second)
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


def _needed_clusters(labels: IntArray) -> IntArray | None:
    """Return *labels*, or None if all differ: single pairs have better intervals."""
    return labels if len(np.unique(labels)) < len(labels) else None
