"""How much the difference of two systems varies, and what a design of some size detects."""

from collections.abc import Hashable, Sequence
from math import isnan, sqrt
from typing import NamedTuple

from karat.extensions.scores.trials import variance
from karat.scoring.stats.moments import Moments, column_moments
from karat.scoring.stats.power import Threshold, smallest_mean, smallest_share

# The exact distribution of hits is computed up to here; beyond, the normal one is as good.
MOST_EXACT = 2_000
MOST_UNITS = 1_000_000

Trials = Sequence[Sequence[float]]


class Spread(NamedTuple):
    """The standard deviations of the difference of two systems, by their source.

    *clusters* is that between clusters of queries, *queries* that between queries of a cluster,
    *trials* that of one trial of both systems around the difference of a query. *changed* is the
    share of the queries on which they differ. *hits* are scores of 0 and 1 in one trial, which have
    an exact test. *trials* is None if it is part of *queries*, because nobody repeated a query.
    """

    queries: float
    clusters: float = 0.0
    trials: float | None = None
    changed: float = 1.0
    hits: bool = False

    def of_unit(self, design: "Design") -> float:
        """Return the standard deviation of the mean difference of one cluster, or one query.

        >>> Spread(0.3, trials=0.4).of_unit(Design(10, trials=4))
        0.36...
        """
        trials = (self.trials or 0.0) ** 2 / design.trials
        return sqrt(self.clusters**2 + (self.queries**2 + trials) / design.size)


class Design(NamedTuple):
    """How many *units* an evaluation has: clusters of *size* queries, each in some *trials*.

    Without clusters, a unit is a query.
    """

    units: int
    size: float = 1
    trials: int = 1

    @property
    def queries(self) -> int:
        """Return the number of queries."""
        return round(self.units * self.size)


def detectable(spread: Spread, design: Design, *, level: float, power: float) -> float | None:
    """Return the true difference that the test finds with *power*; None if it finds none.

    >>> round(detectable(Spread(0.18), Design(250), level=0.95, power=0.8), 3)
    0.033
    """
    threshold = Threshold(round(1 - level, 12))
    single = design.size == 1 and design.trials == 1
    changed = max(1, round(design.units * spread.changed)) if single else design.units
    if spread.hits and single and design.units <= MOST_EXACT:
        steps = smallest_share(design.units, changed, threshold, power=power)
        return None if steps is None else steps / design.units
    if design.units < 2:
        return None
    deviation = spread.of_unit(design)
    moments = Moments(design.queries, design.units, 0.0, deviation, deviation / sqrt(design.units))
    return smallest_mean(moments, threshold, changed=changed, power=power)


def units_needed(
    spread: Spread, difference: float, design: Design, *, level: float, power: float
) -> int | None:
    """Return how many units of *design* detect *difference*; None for more than a million.

    >>> units_needed(Spread(0.18), 0.02, Design(1), level=0.95, power=0.8)
    672
    """

    def is_enough(units: int) -> bool:
        found = detectable(spread, design._replace(units=units), level=level, power=power)
        return found is not None and found <= difference * (1 + 1e-9)

    low, high = 1, 2
    while not is_enough(high):
        if high >= MOST_UNITS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def spread_of(
    first: Trials, second: Trials, clusters: Sequence[Hashable] | None = None, *, hits: bool = False
) -> Spread | None:
    """Return the spread of the differences of ``first[query][trial]`` and *second*.

    No component is below 0. None without two queries that both systems have. NaN is skipped.

    >>> spread_of([[1], [0], [1], [1]], [[0], [0], [1], [0]])
    Spread(queries=0.577..., clusters=0.0, trials=None, changed=0.5, hits=False)
    """
    labels: Sequence[Hashable] = range(len(first)) if clusters is None else clusters
    known: list[tuple[Hashable, float]] = []
    for label, one, other in zip(labels, first, second, strict=True):
        difference = _mean(one) - _mean(other)
        if not isnan(difference):
            known.append((label, difference))
    if len(known) < 2:
        return None
    of_trials = [variance(scores) for scores in (first, second)]
    repeated = [each for each in of_trials if each is not None]
    noise = sum(each.trials / each.per_query for each in repeated)
    between, within = _components(known) if clusters is not None else (0.0, _variance(known))
    return Spread(
        sqrt(max(0.0, within - noise)),
        sqrt(between),
        sqrt(sum(each.trials for each in repeated)) if repeated else None,
        sum(difference != 0 for _, difference in known) / len(known),
        hits and not repeated,
    )


def _mean(scores: Sequence[float]) -> float:
    known = [score for score in scores if not isnan(score)]
    return sum(known) / len(known) if known else float("nan")


def _variance(known: Sequence[tuple[Hashable, float]]) -> float:
    mean = sum(value for _, value in known) / len(known)
    return sum((value - mean) ** 2 for _, value in known) / (len(known) - 1)


def _components(known: Sequence[tuple[Hashable, float]]) -> tuple[float, float]:
    """Return the variances between clusters and within them.

    That between clusters gives the pilot the standard error that its comparison has: a few large
    clusters count more than many small ones.
    """
    groups: dict[Hashable, list[float]] = {}
    for label, value in known:
        groups.setdefault(label, []).append(value)
    n, count = len(known), len(groups)
    if count in (1, n):
        return 0.0, _variance(known)
    means = {label: sum(values) / len(values) for label, values in groups.items()}
    within = sum((value - means[label]) ** 2 for label, value in known) / (n - count)
    (moments,) = column_moments(
        [[value] for _, value in known], clusters=[str(label) for label, _ in known]
    )
    return max(0.0, count * moments.se**2 - within * count / n), within
