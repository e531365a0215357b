"""The result of a comparison: means, intervals, differences, tests and corrections."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, log2, log10

from karat.errors import UnknownName
from karat.model.frozen import EMPTY, by_value
from karat.system.words import counted

# A few large losses stand against many small gains: the tail that a small sample knows least.
LARGE_LOSSES = "large losses"
# All gains together are less than three queries that fail completely would cost.
SMALL_GAINS = "small gains"
# The method where two systems have the same score on every query: there are no ends.
IDENTICAL = "identical"
# The method of the test where all differences have one size, as those of hits.
ONE_SIZE = "exact binomial"


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """A confidence interval and its method; both ends are None if there is none.

    Methods: ``bootstrap-t``, ``analytic bootstrap-t`` (without draws, from 300 queries on),
    ``cluster bootstrap-t``; if few values differ or tails are heavy and even, ``bootstrap-t or
    student-t`` (the wider at each end); if few differ, ``clopper-pearson`` for hits and ``gaffke``
    for scores at a bound; ``constant`` if none does; ``identical`` for the
    difference of two systems with the same score on every query; ``prediction-powered`` from a
    human sample and model labels; ``none`` if there are too few values.
    """

    low: float | None
    high: float | None
    level: float
    method: str


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """The queries behind a prediction-powered number.

    *human* queries were judged by people, *model* further ones by a language model, whose labels
    have the *weight* 0 to 1. *effective* queries judged by people alone would be as precise.
    """

    human: int
    model: int
    weight: float
    effective: float


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """The mean of one metric of one system over its *n* scored queries; None without any.

    *labels* is set if the mean is prediction-powered.
    """

    system: str
    metric: str
    mean: float | None
    interval: Interval
    n: int
    missing: int
    labels: LabelCounts | None = None


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """System minus baseline on one metric, over the *n* queries with a score of both.

    - ``relative``: difference / baseline mean, None when the baseline is 0.
    - ``p``: two-sided sign-flip p value, uncorrected, computed by ``p_method``; ``p_corrected``
      and the interval decide about significance, see :attr:`is_significant`; ``p_student`` is that
      of the paired t test, for reference.
    - ``effect``: mean / standard deviation of the differences; ``effect_residual``: the difference
      over the residual standard deviation of all systems, Sakai's effect size for Tukey's test.
    - ``detectable``: the true difference that a set of this size and noise calls significant, after
      the correction, with the power of the comparison; None without a variance, and if not even
      the largest difference that the metric allows is detected.
    - ``wins``: on how many queries the system is better, by the metric's own direction.
    - ``labels``: set if the difference is prediction-powered.
    - ``changed``: how many queries, or totals of clusters, differ. The sign-flip test flips these.
      None if another test was used.
    - ``caution``: why a significant difference is a false alarm more often than the level allows:
      LARGE_LOSSES or SMALL_GAINS; "" for no reason.
    """

    baseline: str
    system: str
    metric: str
    n: int
    missing: int
    baseline_mean: float | None
    system_mean: float | None
    difference: float | None
    relative: float | None
    interval: Interval
    p: float | None
    p_method: str
    p_corrected: float | None
    p_student: float | None
    effect: float | None
    effect_residual: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    labels: LabelCounts | None = None
    changed: int | None = None
    caution: str = ""

    @property
    def alpha(self) -> float:
        """Return the largest significant p value: 1 minus the level of the interval."""
        # Rounded, because 1 - 0.95 is a little above 0.05 in floating point.
        return round(1.0 - self.interval.level, 12)

    @property
    def excludes_zero(self) -> bool | None:
        """Return whether the interval lies on one side of 0; None without an interval."""
        low, high = self.interval.low, self.interval.high
        return None if low is None or high is None else low > 0 or high < 0

    @property
    def is_significant(self) -> bool:
        """Return whether the corrected p value and the interval agree that there is a difference.

        Both are held to the level of the interval. Everything that calls a run better or worse asks
        here. The two can disagree for few changed queries and for skewed differences. Without an
        interval, as for the same change of every query of an unbounded metric, the test decides;
        without a p value nothing is significant.
        """
        p = self.p_corrected
        return p is not None and p <= self.alpha and self.excludes_zero is not False

    @property
    def is_vetoed(self) -> bool:
        """Return whether the corrected test finds a difference, but the interval includes 0."""
        p = self.p_corrected
        return p is not None and p <= self.alpha and self.excludes_zero is False

    @property
    def digits(self) -> int:
        """Return with how many decimals the difference and its interval are printed."""
        return decimals(self.difference, self.interval.low, self.interval.high)

    @property
    def fewest_changed(self) -> int:
        """Return how many queries must change, at least, for a significant difference.

        Of *m* changed queries the sign-flip test has 2^m patterns, so no p value is below 2 / 2^m.
        """
        return ceil(log2(2.0 / self.alpha) - 1e-9)

    @property
    def changed_unit(self) -> str:
        """Return the noun of what ``changed`` counts."""
        return "query" if (self.changed or 0) >= self.wins + self.losses else "cluster"

    @property
    def can_be_significant(self) -> bool:
        """Return whether enough queries change for the sign-flip test to reach the level."""
        return self.changed is None or self.changed >= self.fewest_changed

    def reversed(self) -> "Difference":
        """Return baseline minus system, with the same p values."""
        interval = self.interval
        share = None
        if self.difference is not None and self.system_mean:
            share = -self.difference / abs(self.system_mean)
        return replace(
            self,
            baseline=self.system,
            system=self.baseline,
            baseline_mean=self.system_mean,
            system_mean=self.baseline_mean,
            difference=_negative(self.difference),
            relative=share,
            interval=replace(interval, low=_negative(interval.high), high=_negative(interval.low)),
            effect=_negative(self.effect),
            effect_residual=_negative(self.effect_residual),
            wins=self.losses,
            losses=self.wins,
        )


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


# Sums of the same numbers in another order differ by less.
SAME = 1e-9
DIGITS = 3


def decimals(*values: float | None) -> int:
    """Return with how many decimals no number of *values* but 0 is printed as 0; at least three.

    >>> decimals(0.0412), decimals(0.0412, 0.00012), decimals(-0.00009), decimals(0.0, None)
    (3, 4, 5, 3)
    """
    sizes = [abs(value) for value in values if value is not None and abs(value) > SAME]
    return max(DIGITS, ceil(-log10(min(sizes, default=1.0)) - SAME))


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Systems compared on the same queries.

    ``baseline`` is the system that the others are compared with: the first one with a score on the
    first metric, if no other was chosen. ``means`` has one entry per system and metric,
    ``differences`` one per pair and metric; a pair with the baseline is system minus baseline, any
    other pair the later system minus the earlier one. ``pairs`` is ``all``, each with the baseline
    (``baseline``), or all on the first metric and those with the baseline on the others
    (``lead``). ``family`` is the number of tested pairs of the first metric, corrected together;
    ``correction`` is the method. ``lower_is_better`` names the metrics of which less is better,
    such as lines returned. ``labels`` has the metrics that were typed in another spelling, such as
    ``ap`` as ``MAP``.
    """

    systems: tuple[str, ...]
    baseline: str
    metrics: tuple[str, ...]
    queries: int
    means: tuple[Mean, ...]
    differences: tuple[Difference, ...]
    correction: str
    family: int
    level: float
    power: float
    draws: int
    seed: int
    lower_is_better: tuple[str, ...] = ()
    pairs: str = "all"
    labels: Mapping[str, str] = EMPTY

    def __repr__(self) -> str:
        """Return one line: how many systems, metrics and queries."""
        sizes = [counted(len(self.systems), "system"), counted(len(self.metrics), "metric")]
        return f"<Comparison {', '.join(sizes)}, {counted(self.queries, 'query')}>"

    def labelled(self) -> "Comparison":
        """Return the comparison with the metrics named as they were typed, for tables and texts."""
        if not self.labels:
            return self
        name = self.label
        return replace(
            self,
            metrics=tuple(map(name, self.metrics)),
            means=tuple(replace(entry, metric=name(entry.metric)) for entry in self.means),
            differences=tuple(
                replace(entry, metric=name(entry.metric)) for entry in self.differences
            ),
            lower_is_better=tuple(map(name, self.lower_is_better)),
            labels=EMPTY,
        )

    def label(self, metric: str) -> str:
        """Return *metric* as it was typed."""
        return self.labels.get(metric, metric)

    def mean(self, system: str, metric: str) -> Mean:
        """Return the mean of *system* on *metric*; raise UnknownName if there is none."""
        for entry in self.means:
            if (entry.system, entry.metric) == (system, metric):
                return entry
        raise UnknownName(f"no mean of {metric!r} for system {system!r} in this comparison")

    def difference(self, baseline: str, system: str, metric: str) -> Difference:
        """Return the entry of *system* against *baseline*; raise UnknownName if there is none.

        A pair is stored in one direction only, see the class.
        """
        for entry in self.differences:
            if (entry.baseline, entry.system, entry.metric) == (baseline, system, metric):
                return entry
        raise UnknownName(f"no difference of {system!r} from {baseline!r} on {metric!r}")

    def winner(self, difference: Difference) -> str | None:
        """Return the name with the better mean; None for equal means or without a score."""
        change = difference.difference
        if not change:
            return None
        higher = change > 0
        wins = higher != (difference.metric in self.lower_is_better)
        return difference.system if wins else difference.baseline

    def leaders(self, metric: str) -> tuple[str, ...]:
        """Return the systems that share the best mean of *metric*, in their order."""
        sign = -1.0 if metric in self.lower_is_better else 1.0
        means = {
            entry.system: sign * entry.mean
            for entry in self.means
            if entry.metric == metric and entry.mean is not None
        }
        best = max(means.values(), default=0.0)
        return tuple(name for name, mean in means.items() if mean >= best - SAME)

    def best(self, metric: str) -> str | None:
        """Return the system that is significantly better than every other one, None without it."""
        won = [
            self.winner(entry)
            for entry in self.differences
            if entry.metric == metric and entry.is_significant
        ]
        others = len(self.systems) - 1
        return next((name for name in self.systems if 0 < others == won.count(name)), None)

    def against(self, baseline: str, metric: str) -> "Comparison | None":
        """Return the pairs of *baseline* on *metric* alone; None if not all of them were tested.

        p values stay corrected for all pairs of this comparison, so that a pair has one p value
        wherever it is shown.
        """
        pairs = {
            entry.system: entry
            for each in self.differences
            if each.metric == metric and baseline in (each.baseline, each.system)
            for entry in [each if each.baseline == baseline else each.reversed()]
        }
        others = [name for name in self.systems if name != baseline]
        if metric not in self.metrics or pairs.keys() != set(others):
            return None
        tested = sum(each.metric == metric and each.n > 0 for each in self.differences)
        return replace(
            self,
            systems=(baseline, *others),
            baseline=baseline,
            metrics=(metric,),
            means=tuple(self.mean(name, metric) for name in (baseline, *others)),
            differences=tuple(pairs[name] for name in others),
            pairs="baseline",
            family=tested,
            lower_is_better=tuple(name for name in self.lower_is_better if name == metric),
        )
