"""The rows of several runs compared."""

from collections.abc import Iterator, Mapping, Sequence

from karat.model.comparison import Comparison, Difference, Interval
from karat.model.contest import Contest
from karat.report.score_view import note_lines, shorten
from karat.report.table import Cell, Column, Table, number
from karat.stats import significance_letters

__all__ = ["compare_table", "per_query_table", "slice_tables"]

DIGITS = 3
CORRECTIONS = {
    "maxt": "corrected by step-down maxT over all pairs",
    "tukey": "corrected by randomised Tukey HSD over all pairs",
    "holm": "corrected by Holm over the runs",
    "bh": "corrected by Benjamini-Hochberg over the pairs",
    "none": "not corrected",
}


def compare_table(contest: Contest) -> Table:
    """Return every measure of every run, with its difference from the baseline, and what it means.

    A mean is marked as the best only where every other run is significantly worse.
    """
    comparison = contest.comparison
    names = ", ".join(comparison.systems[1:])
    notes = [
        f"p: paired sign-flip randomisation, {CORRECTIONS[comparison.correction]}; intervals: "
        f"bootstrap-t, {comparison.draws} draws, seed {comparison.seed}; * best, beyond the noise"
    ]
    for evaluation in contest.evaluations:
        notes += [f"{evaluation.name}: {line}" for line in note_lines(evaluation.notes)]
    return _table(
        f"{names} against {comparison.systems[0]}, {comparison.queries} queries",
        comparison,
        comparison.metrics,
        notes=(*notes, *contest.further_tests, contest.verdict),
    )


def slice_tables(contest: Contest) -> list[Table]:
    """Return one table per tag value, of the first measure."""
    return [
        _table(f"{tag} = {value}, {comparison.queries} queries", comparison, comparison.metrics[:1])
        for tag, values in contest.slices.items()
        for value, comparison in values.items()
    ]


def _table(
    title: str, comparison: Comparison, measures: Sequence[str], *, notes: Sequence[str] = ()
) -> Table:
    level = f"{comparison.level:.0%} interval"
    return Table(
        title,
        (
            Column("measure"),
            Column("run"),
            Column("mean", numeric=True),
            Column(level, numeric=True),
            Column("change", numeric=True),
            Column(level, numeric=True),
            Column("p", numeric=True),
            Column("win/tie/loss", numeric=True),
            Column("better than"),
        ),
        tuple(row for measure in measures for row in _rows(comparison, measure)),
        tuple(notes),
        grouped=True,
    )


def _rows(comparison: Comparison, measure: str) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per run; the letters name the runs that it is significantly better than."""
    marks = significance_letters(comparison, measure)
    best = _best(comparison, measure)
    baseline = comparison.systems[0]
    for system, mark in zip(comparison.systems, marks, strict=True):
        mean = comparison.mean(system, measure)
        against = None
        if system != baseline:
            against = comparison.difference(baseline, system, measure)
        yield (
            Cell("" if against else measure, measure),
            Cell(f"{mark.letter} {system}", system),
            number(mean.mean, best=system == best, digits=DIGITS),
            _range(mean.interval),
            *_difference_cells(against),
            Cell(mark.better_than or "-"),
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
        number(entry.difference, signed=True, digits=DIGITS),
        _range(entry.interval, signed=True),
        Cell("-") if p is None else Cell("<0.001" if p < 0.001 else f"{p:.3f}", p),
        Cell(f"{entry.wins}/{entry.ties}/{entry.losses}"),
    )


def _range(interval: Interval, *, signed: bool = False) -> Cell:
    if interval.low is None or interval.high is None:
        return Cell("-")
    ends = (number(end, signed=signed, digits=DIGITS) for end in (interval.low, interval.high))
    return Cell(f"[{', '.join(end.text for end in ends)}]")
