"""The rows of one scored run."""

from collections.abc import Iterator, Mapping, Sequence

from karat.model import Status
from karat.model.evaluation import Evaluation, Notes, Summary
from karat.report.table import Cell, Column, Table, number

__all__ = ["note_lines", "per_query_table", "score_table", "slice_tables"]


def score_table(evaluation: Evaluation) -> Table:
    """Return one row per measure: mean, interval, mean over answered queries, n."""
    return _summary_table(
        f"{evaluation.name}, {_queries(evaluation.notes.queries)}",
        evaluation.summaries,
        tuple(note_lines(evaluation.notes)),
    )


def slice_tables(evaluation: Evaluation) -> list[Table]:
    """Return one table per tag value."""
    return [
        _summary_table(f"{tag} = {value}", summaries, ())
        for tag, values in evaluation.slices.items()
        for value, summaries in values.items()
    ]


def per_query_table(evaluation: Evaluation, texts: Mapping[str, str]) -> Table:
    """Return one row per query: id, status, every measure and the query's text."""
    table = evaluation.table
    rows = []
    for row, query_id in enumerate(table.query_ids):
        scores = [number(column[row]) for column in table.columns.values()]
        status = table.statuses[row].name.lower()
        text = texts.get(query_id, "")
        rows.append(
            (Cell(query_id, query_id), Cell(status, status), *scores, Cell(shorten(text), text))
        )
    return Table(
        "",
        (
            Column("query"),
            Column("status"),
            *(Column(name, numeric=True) for name in table.columns),
            Column("text"),
        ),
        tuple(rows),
    )


def shorten(text: str, width: int = 48) -> str:
    """Return *text* cut to *width* characters.

    >>> shorten("where is the login handled?", 12)
    'where is ...'
    """
    return text if len(text) <= width else text[: width - 3] + "..."


def note_lines(notes: Notes) -> Iterator[str]:
    """Yield what a reader must know beside the numbers, one sentence a line."""
    counts = notes.statuses
    left_out = [
        f"{counts[status]} {status.name.lower()}"
        for status in (Status.MISSING, Status.ERROR, Status.TIMEOUT)
    ]
    share = (
        ""
        if notes.judged_share != notes.judged_share
        else (f"; {notes.judged_share:.0%} of the first 10 hits are judged")
    )
    yield f"{_queries(notes.queries)}: {', '.join(left_out)} (each counts 0){share}"
    if counts[Status.UNJUDGED]:
        yield f"{_queries(counts[Status.UNJUDGED])} without a relevant target left out of the means"
    if notes.invalid:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(notes.invalid.items()))
        yield f"invalid hits left out: {reasons}"
    if notes.unknown_queries:
        names = ", ".join(notes.unknown_queries[:3])
        more = ", ..." if len(notes.unknown_queries) > 3 else ""
        count = _queries(len(notes.unknown_queries))
        yield f"{count} of the run not in the gold set: {names}{more}"
    if notes.tied:
        yield f"ties decide a relevant rank in {_queries(notes.tied)} (rule: {notes.ties})"


def _summary_table(title: str, summaries: Sequence[Summary], notes: tuple[str, ...]) -> Table:
    sure = any(summary.interval for summary in summaries)
    level = next((s.interval.level for s in summaries if s.interval), 0.95)
    columns = [Column("measure"), Column("mean", numeric=True)]
    if sure:
        columns.append(Column(f"{level:.0%} interval", numeric=True))
    columns += [Column("answered", numeric=True), Column("n", numeric=True)]
    rows = []
    for summary in summaries:
        cells = [Cell(summary.measure, summary.measure), number(summary.mean)]
        if sure:
            cells.append(interval_cell(summary))
        cells += [number(summary.answered), Cell(str(summary.n), summary.n)]
        rows.append(tuple(cells))
    return Table(title, tuple(columns), tuple(rows), notes)


def interval_cell(summary: Summary) -> Cell:
    """Return ``[low, high]``, a dash where there is none."""
    interval = summary.interval
    if interval is None or interval.low is None or interval.high is None:
        return Cell("-")
    return Cell(f"[{number(interval.low).text}, {number(interval.high).text}]")


def _queries(count: int) -> str:
    return f"{count} query" if count == 1 else f"{count} queries"
