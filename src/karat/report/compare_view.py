"""The rows of several runs compared."""

from collections.abc import Mapping, Sequence

from karat.model.comparison import Comparison, Difference, Interval
from karat.model.evaluation import Contest
from karat.report.score_view import note_lines, shorten
from karat.report.table import Cell, Column, Table, number
from karat.stats import significance_letters

__all__ = ["compare_tables", "per_query_table", "slice_tables"]


def compare_tables(contest: Contest) -> list[Table]:
    """Return one table per measure: each run's mean, and its difference from the baseline.

    The best mean is marked only where no other run is as good within the noise.
    """
    tables = [measure_table(contest.comparison, name) for name in contest.comparison.metrics]
    return [*tables[:-1], _with_notes(tables[-1], contest)]


def slice_tables(contest: Contest) -> list[Table]:
    """Return the tables of each tag value, for the first measure."""
    return [
        measure_table(comparison, comparison.metrics[0], title=f"{tag} = {value}: ")
        for tag, values in contest.slices.items()
        for value, comparison in values.items()
    ]


def measure_table(comparison: Comparison, measure: str, *, title: str = "") -> Table:
    """Return the table of one measure."""
    marks = significance_letters(comparison, measure)
    best = _best(comparison, measure)
    rows = []
    for system, mark in zip(comparison.systems, marks, strict=True):
        mean = comparison.mean(system, measure)
        against = None
        if system != comparison.systems[0]:
            against = comparison.difference(comparison.systems[0], system, measure)
        rows.append(
            (
                Cell(mark.letter),
                Cell(system, system),
                number(mean.mean, best=system == best),
                _range(mean.interval),
                *_difference_cells(against),
                Cell(mark.better_than or "-"),
                Cell(str(mean.n), mean.n),
            )
        )
    level = f"{comparison.level:.0%}"
    return Table(
        title + measure,
        (
            Column(""),
            Column("run"),
            Column("mean", numeric=True),
            Column(f"{level} interval", numeric=True),
            Column("difference", numeric=True),
            Column(f"{level} interval", numeric=True),
            Column("p", numeric=True),
            Column("win/tie/loss", numeric=True),
            Column("better than"),
            Column("n", numeric=True),
        ),
        tuple(rows),
    )


def per_query_table(contest: Contest, texts: Mapping[str, str], measure: str) -> Table:
    """Return one row per query with each run's score and the last run's change, worst first."""
    tables = [evaluation.table for evaluation in contest.evaluations]
    first = tables[0]
    rows = []
    for row, query_id in enumerate(first.query_ids):
        scores = [table.columns[measure][row] for table in tables]
        text = texts.get(query_id, "")
        cells = (
            Cell(query_id, query_id),
            *map(number, scores),
            number(scores[-1] - scores[0], signed=True),
            Cell(shorten(text), text),
        )
        rows.append((scores[-1] - scores[0], cells))
    # NaN, a query not scored, goes last.
    rows.sort(key=lambda pair: (pair[0] != pair[0], pair[0]))
    return Table(
        f"{measure} per query",
        (
            Column("query"),
            *(Column(table.name, numeric=True) for table in tables),
            Column("change", numeric=True),
            Column("text"),
        ),
        tuple(cells for _, cells in rows),
    )


def _best(comparison: Comparison, measure: str) -> str | None:
    """Return the run that is significantly better than every other one, if there is one."""
    marks = significance_letters(comparison, measure)
    letters = [mark.letter for mark in marks]
    for mark in marks:
        beaten = mark.better_than.split(",") if "," in mark.better_than else list(mark.better_than)
        if len(beaten) == len(letters) - 1:
            return mark.system
    return None


def _difference_cells(entry: Difference | None) -> Sequence[Cell]:
    if entry is None:
        return (Cell("baseline"), Cell(""), Cell(""), Cell(""))
    p = entry.p_corrected
    return (
        number(entry.difference, signed=True),
        _range(entry.interval, signed=True),
        Cell("-") if p is None else Cell("<0.001" if p < 0.001 else f"{p:.3f}", p),
        Cell(f"{entry.wins}/{entry.ties}/{entry.losses}"),
    )


def _range(interval: Interval, *, signed: bool = False) -> Cell:
    if interval.low is None or interval.high is None:
        return Cell("-")
    low, high = number(interval.low, signed=signed), number(interval.high, signed=signed)
    return Cell(f"[{low.text}, {high.text}]")


def _with_notes(table: Table, contest: Contest) -> Table:
    comparison = contest.comparison
    names = {
        "maxt": "step-down maxT over all pairs",
        "tukey": "randomised Tukey HSD over all pairs",
        "holm": "Holm over the runs",
        "bh": "Benjamini-Hochberg over the pairs",
        "none": "not corrected",
    }
    notes = [
        f"p: paired sign-flip randomisation, {names[comparison.correction]}; "
        f"intervals: bootstrap-t, {comparison.draws} draws, seed {comparison.seed}"
    ]
    for evaluation in contest.evaluations:
        notes += [f"{evaluation.name}: {line}" for line in note_lines(evaluation.notes)]
    notes.append(contest.verdict)
    return Table(table.title, table.columns, table.rows, tuple(notes))
