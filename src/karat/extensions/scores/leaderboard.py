"""A leaderboard that says what it does not know: rank intervals and groups of tied systems.

A system has at least as many systems above it as are significantly better, and at most all that
are not significantly worse. With a correction that limits the chance of any false difference
(max-T, Tukey, Holm), all rank intervals hold at once with the level of the comparison (Mogstad,
Romano, Shaikh and Wilhelm, Inference for Ranks, 2024).
"""

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

from karat.model.comparison import SAME, Comparison, Interval
from karat.report.compare_view import CORRECTIONS
from karat.report.table import Cell, Column, Table, number, range_cell
from karat.scoring.settings import Confidence
from karat.system.words import counted, first_few, join_names

DIGITS = 3
# Rows of a leaderboard on a terminal.
MOST_ROWS = 20
# Corrections that limit the chance of any false difference.
SIMULTANEOUS = ("maxt", "tukey", "holm")


class RankRow(NamedTuple):
    """A system with its mean, its rank, the best and the worst rank it may have, and its group.

    Systems of one group do not differ significantly from the first of the group.
    """

    system: str
    mean: float
    interval: Interval
    rank: int
    best: int
    worst: int
    group: int


def rank_rows(comparison: Comparison, measure: str) -> tuple[RankRow, ...]:
    """Return the systems with a score, the best first; empty if not all pairs were tested."""
    tested = [entry for entry in comparison.differences if entry.metric == measure]
    count = len(comparison.systems)
    if len(tested) < count * (count - 1) // 2:
        return ()
    sign = -1.0 if measure in comparison.lower_is_better else 1.0
    means = {
        mean.system: (sign * mean.mean, mean)
        for mean in comparison.means
        if mean.metric == measure and mean.mean is not None
    }
    beaten: dict[str, set[str]] = {name: set() for name in means}
    for entry in tested:
        winner = comparison.winner(entry) if entry.is_significant else None
        if winner in beaten:
            beaten[winner].add(entry.baseline if winner == entry.system else entry.system)
    order = sorted(means, key=lambda name: -means[name][0])
    rows: list[RankRow] = []
    first, group = "", 0
    for name in order:
        better = sum(name in others for others in beaten.values())
        if not first or name in beaten[first]:
            first, group = name, group + 1
        value, mean = means[name]
        rank = 1 + sum(other > value + SAME for other, _ in means.values())
        worst = len(means) - len(beaten[name] & means.keys())
        rows.append(RankRow(name, mean.mean or 0.0, mean.interval, rank, 1 + better, worst, group))
    return tuple(rows)


def borda(values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return ``shares[system][task]``: the share of other systems that one beats, ties as a half.

    The mean over tasks, times the number of other systems, is the mean Borda count. A system
    without a score in a task has no share there.

    >>> borda([[0.9, 0.2], [0.5, 0.2], [0.1, 0.8]])
    [[1.0, 0.25], [0.5, 0.25], [0.0, 1.0]]
    """
    shares = [[nan] * len(row) for row in values]
    for task in range(len(values[0]) if values else 0):
        known = [(row[task], index) for index, row in enumerate(values) if not isnan(row[task])]
        for value, index in known:
            lower = sum(other < value - SAME for other, _ in known)
            equal = sum(abs(other - value) <= SAME for other, _ in known) - 1
            if len(known) > 1:
                shares[index][task] = (lower + equal / 2) / (len(known) - 1)
    return shares


BORDA = "Borda"


def borda_comparison(
    means: Mapping[str, Mapping[str, float]], confidence: Confidence, *, lower: bool
) -> Comparison:
    """Return the systems compared by their Borda shares; *means* has them by system and task.

    The tasks are the sample: intervals and tests say what other tasks like these would change.
    """
    import numpy as np

    from karat.scoring.stats import compare

    systems = list(means)
    tasks = list(dict.fromkeys(task for of_task in means.values() for task in of_task))
    sign = -1.0 if lower else 1.0
    values = [[sign * means[name].get(task, nan) for task in tasks] for name in systems]
    return compare(
        np.array(borda(values))[:, :, None],
        systems=systems,
        metrics=[BORDA],
        pairs="all",
        bounds=(0.0, 1.0),
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
    )


def leader_sentence(comparison: Comparison, measure: str) -> str:
    """Return who is the best, and who cannot be told from the best; "" without rank intervals."""
    rows = rank_rows(comparison, measure)
    if not rows:
        return ""
    best, *others = rows
    low = measure in comparison.lower_is_better
    text = f"{best.system} has the {'lowest' if low else 'highest'} {measure}, {best.mean:.3f}, "
    tied = [row.system for row in others if row.group == 1]
    beaten = len(others) - len(tied)
    text += f"and is significantly better than {beaten} of {counted(len(others), 'other system')}."
    if tied:
        text += f" It cannot be told from {join_names(first_few(tied))}."
    return text


def leaderboard_table(
    comparison: Comparison, measure: str, *, by_borda: Comparison | None = None, most: int = 0
) -> Table | None:
    """Return the systems by the mean of *measure*, with rank intervals and groups; at most *most*.

    *by_borda* adds the Borda share and its ranks.
    """
    rows = rank_rows(comparison, measure)
    if not rows:
        return None
    of_borda = {row.system: row for row in rank_rows(by_borda, BORDA)} if by_borda else {}
    percent = f"{comparison.level * 100:g}%"
    columns = [
        Column("rank", numeric=True),
        Column(f"{percent} ranks", numeric=True),
        Column("tied", numeric=True),
        Column("system"),
        Column(measure, numeric=True),
        Column(f"{percent} interval", numeric=True, spare=1),
    ]
    if of_borda:
        columns += [Column(BORDA, numeric=True), Column("its ranks", numeric=True, spare=2)]
    shown = rows[:most] if most else rows
    cells = tuple(_row_cells(row, of_borda) for row in shown)
    return Table(
        f"Leaderboard by {measure}: {counted(len(rows), 'system')}, "
        f"{counted(comparison.queries, 'query')}",
        tuple(columns),
        cells,
        tuple(_board_notes(comparison, rows, len(shown), by_borda)),
    )


def _row_cells(row: RankRow, of_borda: Mapping[str, RankRow]) -> tuple[Cell, ...]:
    cells = [
        Cell(str(row.rank), row.rank),
        _ranks(row),
        Cell(str(row.group), row.group),
        Cell(row.system, row.system),
        number(row.mean, digits=DIGITS),
        range_cell(row.interval),
    ]
    if of_borda:
        known = of_borda.get(row.system)
        cells += [number(known.mean, digits=DIGITS), _ranks(known)] if known else [Cell("-")] * 2
    return tuple(cells)


def _ranks(row: RankRow) -> Cell:
    same = row.best == row.worst
    return Cell(str(row.best) if same else f"{row.best}-{row.worst}")


def _board_notes(
    comparison: Comparison, rows: Sequence[RankRow], shown: int, by_borda: Comparison | None
) -> list[str]:
    notes = [
        "tied: systems with the same number do not differ significantly from the first of them"
    ]
    at_once = "at once" if comparison.correction in SIMULTANEOUS else "one by one"
    method = CORRECTIONS.get(comparison.correction, "no correction")
    notes.append(
        f"ranks: all intervals hold {at_once} with {comparison.level:.0%}; {method} over "
        f"{comparison.family:,} pairs"
    )
    if by_borda:
        notes.append(
            f"{BORDA}: mean share of the other systems that one beats in a task; the "
            f"{counted(by_borda.queries, 'task')} are the sample"
        )
    if shown < len(rows):
        notes.append(f"{len(rows) - shown} more systems: in a report (-o), --csv and --json")
    return notes
