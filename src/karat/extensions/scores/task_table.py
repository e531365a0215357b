"""What is said about several tasks: a verdict, and a table of their means with two summaries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from karat.extensions.scores.tasks import (
    LEAST_TASKS,
    MOST_PAIRED,
    MacroChange,
    MacroComparison,
)
from karat.model.comparison import SAME, Interval
from karat.model.evaluation import ComparisonResult
from karat.report.table import Cell, Column, Table, number, p_cell, range_cell
from karat.scoring.stats.verdict import p_value
from karat.system.words import counted, first_few, join_names, plural

DIGITS = 3
# With more systems, they are rows and tasks are columns; with more tasks, these are left out then.
MOST_COLUMNS, MOST_LISTED = 5, 6
# Rows of tasks on a terminal.
MOST_TASKS = 20
# With more systems, the verdict has only their names.
MOST_DETAILED = 3
MACRO, MICRO = "macro mean", "micro mean"

# A line of the table: its title, and a cell for each system.
Line = tuple[str, list[Cell]]


def macro_verdict(macro: MacroComparison) -> str:
    """Return which systems are better or worse than the baseline over all tasks."""
    scope = f"{macro.measure.name}, the mean over {counted(len(macro.tasks), macro.noun)}"
    brief = len(macro.means) <= MOST_DETAILED
    better: list[str] = []
    worse: list[str] = []
    unclear: list[str] = []
    for name in macro.means:
        change = None if name == macro.baseline else macro.change(name)
        if change is None:
            continue
        clear = change.is_significant
        said = f"{name} ({_amount(macro, name, change)})" if brief else name
        kind = unclear if not clear else better if macro.sign * change.mean > 0 else worse
        kind.append(said)
    texts = [
        f"{join_names(first_few(names))} {'is' if len(names) == 1 else 'are'} significantly {word} "
        f"than {macro.baseline}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    if unclear:
        others = join_names(first_few(unclear))
        texts.append(f"no significant difference between {macro.baseline} and {others}")
    return f"On {scope}: {'; '.join(texts)}." if texts else ""


def _amount(macro: MacroComparison, name: str, change: MacroChange) -> str:
    parts = [number(change.mean, signed=True, digits=DIGITS).text]
    if change.interval.low is not None:
        parts[0] += f" {range_cell(change.interval, signed=True).text}"
    parts += [f"p {p_value(change.p)}"] if change.p is not None else []
    parts.append(f"better in {macro.better_in(name)} of {len(macro.tasks)}")
    return ", ".join(parts)


def task_table(macro: MacroComparison, contest: ComparisonResult, *, most: int = 0) -> Table:
    """Return the mean of each system in each task, then the macro mean and the micro mean.

    Of more than *most* tasks the first ones are listed, 0 for all. Few systems are columns, many
    are rows.
    """
    systems = list(macro.means)
    summary = [*_macro_lines(macro, systems), *_micro_lines(macro, contest, systems)]
    upright = len(systems) <= (MOST_COLUMNS if most else MOST_PAIRED)
    listed = list(macro.tasks)
    if upright:
        listed = listed[: most or None]
    elif len(listed) > MOST_LISTED:
        listed = []
    lines = [
        *((f"{task} ({len(macro.tasks[task])})", _means(macro, systems, task)) for task in listed),
        *summary,
    ]
    notes = list(_notes(macro, contest))
    if hidden := len(macro.tasks) - len(listed):
        notes.append(f"{counted(hidden, macro.noun)} not listed: --details lists them")
    if upright:
        columns = (Column(macro.noun), *(Column(name, numeric=True) for name in systems))
        rows = tuple((Cell(title, title), *cells) for title, cells in lines)
    else:
        # Where there is no room, the last ones are left out first, but not the macro mean.
        columns = (
            Column("system"),
            *(
                Column(title, numeric=True, spare=0 if title == MACRO else spare)
                for spare, (title, _) in enumerate(lines, 1)
            ),
        )
        rows = tuple(
            (Cell(name, name), *(cells[index] for _, cells in lines))
            for index, name in enumerate(systems)
        )
    title = f"{macro.measure.name} by {macro.noun}"
    return Table(title, columns, rows, tuple(notes))


def _means(macro: MacroComparison, systems: Sequence[str], task: str) -> list[Cell]:
    """Return the mean of each system in *task*, the best ones marked."""
    return _marked([macro.means[name].get(task) for name in systems], macro.sign)


def _marked(means: Sequence[float | None], sign: int) -> list[Cell]:
    known = [sign * mean for mean in means if mean is not None]
    top = max(known, default=0.0)
    differ = min(known, default=0.0) < top - SAME
    return [
        number(
            mean,
            digits=DIGITS,
            best=differ and mean is not None and sign * mean >= top - SAME,
        )
        for mean in means
    ]


def _macro_lines(macro: MacroComparison, systems: Sequence[str]) -> Iterator[Line]:
    """Yield the macro means, and what is known of their differences from the baseline."""
    known = [macro.macro[name] for name in systems]
    yield MACRO, _marked([each.mean if each else None for each in known], macro.sign)
    yield (
        _percent(macro),
        [range_cell(_within_bounds(each.interval, macro) if each else None) for each in known],
    )
    others = [name for name in systems if name != macro.baseline]
    if not others:
        return
    changes = {name: macro.change(name) for name in others}
    yield from _change_lines(
        macro,
        systems,
        {name: (each.mean, each.interval, each.p) for name, each in changes.items() if each},
    )
    wins = {name: Cell(f"{macro.better_in(name)} of {len(macro.tasks)}") for name in others}
    yield "better in", [wins.get(name, Cell("")) for name in systems]
    if macro.has_ranks:
        yield "ranks", [_rank_cell(*macro.rank_range(name)) for name in systems]


def _micro_lines(
    macro: MacroComparison, contest: ComparisonResult, systems: Sequence[str]
) -> Iterator[Line]:
    """Yield the means over all queries, and their differences from the baseline."""
    comparison, lead = contest.comparison, macro.measure.name
    means = [comparison.mean(name, lead) for name in systems]
    yield MICRO, _marked([each.mean for each in means], macro.sign)
    yield _percent(macro), [range_cell(each.interval) for each in means]
    changes = {
        name: comparison.difference(macro.baseline, name, lead)
        for name in systems
        if name != macro.baseline
    }
    if changes:
        yield from _change_lines(
            macro,
            systems,
            {
                name: (each.difference, each.interval, each.p_corrected)
                for name, each in changes.items()
            },
        )


def _change_lines(
    macro: MacroComparison,
    systems: Sequence[str],
    changes: Mapping[str, tuple[float | None, Interval, float | None]],
) -> Iterator[Line]:
    """Yield the differences of *changes* from the baseline: size, interval and p."""
    nothing = None, Interval(None, None, macro.level, "none"), None
    known = [changes.get(name, nothing) for name in systems]
    lines = [
        ("change", [number(mean, signed=True, digits=DIGITS) for mean, _, _ in known]),
        (_percent(macro), [range_cell(interval, signed=True) for _, interval, _ in known]),
        ("p", [p_cell(p) for _, _, p in known]),
    ]
    at = systems.index(macro.baseline)
    for title, cells in lines:
        cells[at] = Cell("baseline" if title == "change" else "")
    yield from lines


def _rank_cell(best: int, worst: int) -> Cell:
    return Cell(str(best) if best == worst else f"{best}-{worst}")


def _percent(macro: MacroComparison) -> str:
    return f"{macro.level * 100:g}% interval"


def _within_bounds(interval: Interval, macro: MacroComparison) -> Interval:
    """Return *interval* without what no score can be."""
    if interval.low is None or interval.high is None:
        return interval
    low, high = macro.measure.low, macro.measure.high
    return replace(interval, low=max(interval.low, low), high=min(interval.high, high))


def _notes(macro: MacroComparison, contest: ComparisonResult) -> Iterator[str]:
    """Yield how the two summaries are computed, and what their intervals say."""
    count, noun = len(macro.tasks), macro.noun
    tasks = counted(count, noun)
    if macro.sampled:
        how = (
            f"its interval and p take the {tasks} as a sample of others like them, and so their "
            "queries too (Student's t)"
        )
    else:
        how = (
            f"its interval and p hold for these {tasks}, of which only the queries are a sample "
            f"(stratified t); from {LEAST_TASKS} on, {plural(noun)} are a sample too"
        )
    if macro.changes:
        pairs = counted(len(macro.changes), "pair")
        how += f"; p is corrected by Holm over {pairs}, intervals are not"
    yield f"{MACRO}: each {noun} counts alike; {how}"
    for system, means in macro.means.items():
        if lacking := [task for task in macro.tasks if task not in means]:
            yield f"{system} has no {MACRO}: no score in {join_names(first_few(lacking))}"
    unit = "queries"
    if contest.clusters:
        of_tasks = macro.sampled and contest.clusters == count
        unit = f"whole {plural(noun)}" if of_tasks else "whole clusters of queries"
    yield f"{MICRO}: each query counts alike; its interval resamples {unit}"
