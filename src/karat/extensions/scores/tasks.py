"""Several tasks: a table of their means, and the macro mean, in which every task counts alike."""

from collections.abc import Mapping, Sequence
from math import isnan, sqrt
from typing import NamedTuple

from karat.extensions.scores.record import ScoreSet
from karat.model.comparison import Interval
from karat.model.evaluation import ComparisonResult
from karat.report.table import Cell, Column, Table, number, p_cell, range_cell
from karat.scoring.stats import holm
from karat.scoring.stats.moments import t_quantile, t_two_sided
from karat.system.words import counted

DIGITS = 3
# With more tasks, their columns are left out.
MOST_TASKS = 6

ByTask = Mapping[str, Sequence[int]]


class MacroMean(NamedTuple):
    """The mean of the means of all tasks, with its interval and the p value of a test against 0.

    The tasks are fixed, and the queries of each are a sample: the variance is that of a stratified
    mean, its degrees of freedom are Welch and Satterthwaite's. No interval and no p without two
    scores in each task, or without any variance.
    """

    mean: float
    interval: Interval
    p: float | None


def macro_mean(
    tasks: Sequence[Sequence[float]], level: float, *, dependent: bool = False
) -> MacroMean | None:
    """Return the macro mean of the scores of *tasks*; NaN is skipped. None if a task has no score.

    For *dependent* queries there is no interval.

    >>> macro_mean([[1, 0, 1, 1], [0, 1]], 0.95).mean
    0.625
    """
    known = [[score for score in scores if not isnan(score)] for scores in tasks]
    if not known or not all(known):
        return None
    means = [sum(scores) / len(scores) for scores in known]
    mean = sum(means) / len(means)
    nothing = MacroMean(mean, Interval(None, None, level, "none"), None)
    if dependent or any(len(scores) < 2 for scores in known):
        return nothing
    parts = [
        sum((score - of_task) ** 2 for score in scores) / (len(scores) - 1) / len(scores)
        for scores, of_task in zip(known, means, strict=True)
    ]
    total = sum(parts)
    if total <= 0:
        return nothing
    freedom = total**2 / sum(
        part**2 / (len(scores) - 1) for scores, part in zip(known, parts, strict=True)
    )
    error = sqrt(total) / len(known)
    reach = t_quantile((1 + level) / 2, freedom) * error
    interval = Interval(mean - reach, mean + reach, level, "stratified t")
    return MacroMean(mean, interval, t_two_sided(mean / error, freedom))


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


def task_table(contest: ComparisonResult, tasks: ByTask, level: float) -> Table:
    """Return a row for each system: its mean in each task, the macro mean, and its difference."""
    comparison = contest.comparison
    lead, baseline = comparison.metrics[0], comparison.baseline
    dependent = bool(contest.clusters)
    columns = {each.name: each.table.columns[lead] for each in contest.evaluations}
    means = task_means(contest, tasks)
    differences = {
        name: macro_mean(
            [[column[query] - columns[baseline][query] for query in of] for of in tasks.values()],
            level,
            dependent=dependent,
        )
        for name, column in columns.items()
        if name != baseline
    }
    tested = [name for name, each in differences.items() if each and each.p is not None]
    ps = [each.p for name in tested if (each := differences[name]) and each.p is not None]
    corrected = dict(zip(tested, holm(ps), strict=True))
    listed = list(tasks) if len(tasks) <= MOST_TASKS else []
    percent = f"{level * 100:g}% interval"
    rows = []
    for name, column in columns.items():
        by_task = [[column[query] for query in of] for of in tasks.values()]
        macro = macro_mean(by_task, level, dependent=dependent)
        cells = [Cell(name, name), *(number(means[name].get(t), digits=DIGITS) for t in listed)]
        cells += [number(macro.mean, digits=DIGITS) if macro else Cell("-")]
        cells += [range_cell(macro.interval) if macro else Cell("-")]
        if name == baseline:
            cells += [Cell("baseline"), Cell(""), Cell("")]
        else:
            change = differences[name]
            cells += [
                number(change.mean if change else None, signed=True, digits=DIGITS),
                range_cell(change.interval, signed=True) if change else Cell("-"),
                p_cell(corrected.get(name)),
            ]
        rows.append(tuple(cells))
    how = (
        "no interval, because queries depend on each other"
        if dependent
        else "its interval is over the queries of these tasks (stratified t)"
    )
    if differences and not dependent:
        how += f", p is corrected by Holm over {counted(len(differences), 'pair')} with {baseline}"
    return Table(
        f"{lead} by task ({len(tasks)} tasks)",
        (
            Column("system"),
            *(Column(f"{task} ({len(tasks[task])})", numeric=True) for task in listed),
            Column("macro mean", numeric=True),
            Column(percent, numeric=True, spare=2),
            Column("change", numeric=True),
            Column(percent, numeric=True, spare=1),
            Column("p", numeric=True),
        ),
        tuple(rows),
        (f"macro mean: each task counts alike; {how}",),
    )
