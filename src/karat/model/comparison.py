"""What a comparison of systems says: intervals, differences, tests and their corrections."""

from dataclasses import dataclass

from karat.errors import UnknownName
from karat.model.equality import by_value

__all__ = ["Comparison", "Difference", "Interval", "Mean"]


@by_value
@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and the method that made it; both ends are None where there is none.

    Methods: ``bootstrap-t``, ``cluster bootstrap-t``; where few values differ ``bootstrap-t or
    student-t`` (the wider at each end), ``student-t`` or ``clopper-pearson``; ``constant`` where
    none does; ``none`` where nothing can be said.
    """

    low: float | None
    high: float | None
    level: float
    method: str


@by_value
@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of one metric of one system over its *n* scored queries; None without any."""

    system: str
    metric: str
    mean: float | None
    interval: Interval
    n: int
    missing: int


@by_value
@dataclass(frozen=True, slots=True)
class Difference:
    """System minus baseline on one metric, over the *n* queries that both have a score for.

    - ``relative``: difference / baseline mean, None when the baseline is 0.
    - ``p``: two-sided sign-flip p value, uncorrected, made by ``p_method``; ``p_corrected`` is
      the one to judge by; ``p_student`` is the paired t test as a second opinion.
    - ``effect``: mean / standard deviation of the differences; ``effect_residual``: the difference
      over the residual standard deviation of all systems, Sakai's effect size for Tukey's test.
    - ``detectable``: the true difference that a set of this size and noise would find at the
      comparison's power, before any correction for many comparisons; None where it would be larger
      than any that there can be.
    - ``wins``: on how many queries the system is better, by the metric's own direction.
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


@by_value
@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems compared on the same queries.

    ``means`` holds one entry per system and metric, ``differences`` one per pair and metric, the
    system named first being the baseline of its pair. ``pairs`` says which were
    compared: ``all``, each with the first system (``baseline``), or all on the first metric and
    those with the first system on the others (``lead``). ``family`` is the number of pairs that a
    corrected p value of the first metric answers for; ``correction`` says how. ``lower_is_better``
    names the metrics of which a smaller value is the better one, such as lines returned.
    """

    systems: tuple[str, ...]
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

    def mean(self, system: str, metric: str) -> Mean:
        """Return the mean of *system* on *metric*; raise UnknownName without one."""
        for entry in self.means:
            if (entry.system, entry.metric) == (system, metric):
                return entry
        raise UnknownName(f"no mean of {metric!r} for system {system!r} in this comparison")

    def difference(self, baseline: str, system: str, metric: str) -> Difference:
        """Return the entry of *system* against *baseline*; raise UnknownName without one.

        A pair is kept in one direction only, the system named first being the baseline.
        """
        for entry in self.differences:
            if (entry.baseline, entry.system, entry.metric) == (baseline, system, metric):
                return entry
        raise UnknownName(f"no difference of {system!r} from {baseline!r} on {metric!r}")

    def winner(self, difference: Difference) -> str | None:
        """Return the name with the better mean; None for a draw or where there is no score."""
        change = difference.difference
        if not change:
            return None
        higher = change > 0
        wins = higher != (difference.metric in self.lower_is_better)
        return difference.system if wins else difference.baseline

    def significant(self, difference: Difference) -> bool:
        """Return whether the corrected p value is at most 1 - level; without a p value, False."""
        # Rounded, because 1 - 0.95 is a little above 0.05 in floating point.
        alpha = round(1.0 - self.level, 12)
        return difference.p_corrected is not None and difference.p_corrected <= alpha
