"""Several tasks: systems compared by their macro means, in which every task counts alike.

The tasks are corpora, data sets or benchmarks. From LEAST_TASKS on they are a sample of others like
them; fewer are fixed, and only their queries are a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, sqrt
from typing import NamedTuple

from karat.extensions.scores.record import ScoreMeasure, ScoreSet
from karat.model.comparison import SAME, Interval
from karat.model.evaluation import ComparisonResult
from karat.scoring.stats import holm
from karat.scoring.stats.moments import t_quantile, t_two_sided

# From so many tasks on they are a sample; see benchmarks/macro_means.py.
LEAST_TASKS = 6
# With more systems, only pairs with the baseline are tested.
MOST_PAIRED = 12

ByTask = Mapping[str, Sequence[int]]


class MacroMean(NamedTuple):
    """The mean of the means of all tasks, with its interval and the p value of a test against 0.

    Of fixed tasks the queries are a sample: the variance is that of a stratified mean, its degrees
    of freedom are Welch and Satterthwaite's. Of sampled tasks it is the variance of their means,
    which includes that of their queries, and the interval is Student's t. No interval and no p
    without any variance, or without two scores in each of the fixed tasks.
    """

    mean: float
    interval: Interval
    p: float | None


def macro_mean(
    tasks: Sequence[Sequence[float]],
    level: float,
    *,
    sampled: bool = False,
    clusters: Sequence[Sequence[str]] | None = None,
) -> MacroMean | None:
    """Return the macro mean of the scores of *tasks*; NaN is skipped. None if a task has no score.

    With *clusters*, a label for each score, queries with the same label in a task are dependent.

    >>> macro_mean([[1, 0, 1, 1], [0, 1]], 0.95).mean
    0.625
    """
    labels = clusters or [[str(query) for query in range(len(scores))] for scores in tasks]
    known = [
        [(score, label) for score, label in zip(*each, strict=True) if not isnan(score)]
        for each in zip(tasks, labels, strict=True)
    ]
    if not known or not all(known):
        return None
    means = [sum(score for score, _ in scores) / len(scores) for scores in known]
    mean = sum(means) / len(means)
    if sampled:
        spread = _Spread.of([of_task - mean for of_task in means], len(means))
        total, freedom, method = spread.variance, float(spread.freedom), "t over tasks"
    else:
        spreads = [_within(scores, of_task) for scores, of_task in zip(known, means, strict=True)]
        parts = [(each.variance / len(known) ** 2, each.freedom) for each in spreads]
        total, method = sum(part for part, _ in parts), "stratified t"
        if any(free < 1 for _, free in parts):
            total = 0.0
        freedom = total**2 / sum(part**2 / free for part, free in parts) if total else 0.0
    # Scores that agree in twelve digits differ only by rounding.
    if total <= (1e-12 * mean) ** 2:
        return MacroMean(mean, Interval(None, None, level, "none"), None)
    error = sqrt(total)
    reach = t_quantile((1 + level) / 2, freedom) * error
    interval = Interval(mean - reach, mean + reach, level, method)
    return MacroMean(mean, interval, t_two_sided(mean / error, freedom))


class _Spread(NamedTuple):
    """The variance of a mean, and its degrees of freedom."""

    variance: float
    freedom: int

    @classmethod
    def of(cls, residuals: Sequence[float], scores: int) -> "_Spread":
        """Return the variance of a mean of *scores*, whose independent units have *residuals*."""
        units = len(residuals)
        if units < 2:
            return cls(0.0, 0)
        squares = sum(each**2 for each in residuals)
        return cls(squares * units / (units - 1) / scores**2, units - 1)


def _within(scores: Sequence[tuple[float, str]], mean: float) -> _Spread:
    """Return the spread of the *mean* of a task; scores with the same label are one unit."""
    residuals: dict[str, float] = {}
    for score, label in scores:
        residuals[label] = residuals.get(label, 0.0) + score - mean
    return _Spread.of(list(residuals.values()), len(scores))


def queries_by_task(scores: ScoreSet) -> ByTask:
    """Return the numbers of the queries of each task; empty for fewer than two tasks."""
    if not scores.task or scores.task not in scores.tags:
        return {}
    tasks: dict[str, list[int]] = {}
    for query, task in enumerate(scores.tags[scores.task]):
        if task:
            tasks.setdefault(task, []).append(query)
    return tasks if len(tasks) > 1 else {}


def task_means(contest: ComparisonResult, tasks: ByTask) -> dict[str, dict[str, float]]:
    """Return the mean of the leading measure by system and task, without tasks that lack scores."""
    lead = contest.comparison.metrics[0]
    means: dict[str, dict[str, float]] = {}
    for each in contest.evaluations:
        column = each.table.columns[lead]
        of_task = {}
        for task, queries in tasks.items():
            known = [column[query] for query in queries if not isnan(column[query])]
            if known:
                of_task[task] = sum(known) / len(known)
        means[each.name] = of_task
    return means


class MacroChange(NamedTuple):
    """The macro mean of a difference, *p* corrected over all tested pairs."""

    mean: float
    interval: Interval
    p: float | None

    @property
    def is_significant(self) -> bool:
        """Return whether there is a difference, at the level of the interval."""
        return self.p is not None and self.p <= round(1 - self.interval.level, 12)


@dataclass(frozen=True, slots=True)
class MacroComparison:
    """Systems compared by their macro means on one measure.

    *changes* has the tested pairs, (baseline, system), *noun* is what a task is called, and *means*
    has the means of a system by task. *sampled* tasks are a sample of others like them.
    """

    measure: ScoreMeasure
    noun: str
    baseline: str
    tasks: ByTask
    means: Mapping[str, Mapping[str, float]]
    macro: Mapping[str, MacroMean | None]
    changes: Mapping[tuple[str, str], MacroChange | None]
    sampled: bool
    level: float

    def change(self, system: str) -> MacroChange | None:
        """Return the difference of *system* from the baseline, None without a score."""
        return self.changes[self.baseline, system]

    @property
    def sign(self) -> int:
        """Return 1, or -1 if less is better."""
        return -1 if self.measure.lower_is_better else 1

    def better_in(self, system: str) -> int:
        """Return in how many tasks *system* has a better mean than the baseline."""
        base = self.means[self.baseline]
        pairs = ((mean, base[task]) for task, mean in self.means[system].items() if task in base)
        return sum(self.sign * (mean - other) > SAME for mean, other in pairs)

    def rank_range(self, system: str) -> tuple[int, int]:
        """Return the best and the worst rank of *system* that the tests leave open."""
        better = worse = 0
        for (first, second), change in self.changes.items():
            if system in (first, second) and change and change.is_significant:
                gain = self.sign * change.mean * (1 if system == second else -1)
                better, worse = better + (gain < 0), worse + (gain > 0)
        return 1 + better, len(self.means) - worse

    @property
    def has_ranks(self) -> bool:
        """Return whether all pairs of three systems or more were tested."""
        count = len(self.means)
        return count > 2 and len(self.changes) == count * (count - 1) // 2


def macro_comparison(
    contest: ComparisonResult,
    tasks: ByTask,
    measure: ScoreMeasure,
    *,
    noun: str = "task",
    clusters: Sequence[str] | None = None,
    pairs: str | None = None,
) -> MacroComparison:
    """Return the systems of *contest* compared by their macro means over *tasks*.

    *clusters* has a label for each query, None for independent ones. *pairs* ``baseline`` tests
    only those with the baseline; p values are corrected over the tested ones by Holm.
    """
    level, baseline = contest.comparison.level, contest.comparison.baseline
    columns = {each.name: each.table.columns[measure.name] for each in contest.evaluations}
    sampled = len(tasks) >= LEAST_TASKS
    labels = None
    if clusters is not None:
        labels = [[clusters[query] for query in of] for of in tasks.values()]

    def mean_of(column: Sequence[float]) -> MacroMean | None:
        by_task = [[column[query] for query in of] for of in tasks.values()]
        return macro_mean(by_task, level, sampled=sampled, clusters=labels)

    names = [baseline, *(name for name in columns if name != baseline)]
    tested = list(combinations(names, 2))
    if pairs == "baseline" or len(names) > MOST_PAIRED:
        tested = [pair for pair in tested if baseline in pair]
    differences = {
        (first, second): mean_of(
            [one - other for one, other in zip(columns[second], columns[first], strict=True)]
        )
        for first, second in tested
    }
    ps = {pair: each.p for pair, each in differences.items() if each and each.p is not None}
    corrected = dict(zip(ps, holm(list(ps.values())), strict=True))
    return MacroComparison(
        measure,
        noun,
        baseline,
        tasks,
        task_means(contest, tasks),
        {name: mean_of(column) for name, column in columns.items()},
        {
            pair: MacroChange(each.mean, each.interval, corrected.get(pair)) if each else None
            for pair, each in differences.items()
        },
        sampled,
        level,
    )
