"""The rows of one scored run."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from karat.model import QueryStatus
from karat.model.evaluation import Evaluation, Notes, Summary
from karat.report.display import printable, shorten
from karat.report.table import Cell, Column, Table, number

__all__ = [
    "clusters_line",
    "invalid_text",
    "level_title",
    "note_lines",
    "per_query_table",
    "queries",
    "score_table",
    "slice_tables",
    "text_cell",
]

FAILED = (QueryStatus.MISSING, QueryStatus.ERROR, QueryStatus.TIMEOUT)
TEXT_WIDTH = 48


def score_table(evaluation: Evaluation) -> Table:
    """Return one row per measure: mean, interval, mean over answered queries, n."""
    return _summary_table(
        f"{evaluation.name}, {queries(evaluation.notes.queries)}",
        evaluation.shown().summaries,
        tuple(note_lines(evaluation)),
    )


def slice_tables(evaluation: Evaluation) -> list[Table]:
    """Return one table per tag value."""
    return [
        _summary_table(f"{tag} = {value}", summaries, ())
        for tag, values in evaluation.shown().slices.items()
        for value, summaries in values.items()
    ]


def per_query_table(evaluation: Evaluation, texts: Mapping[str, str]) -> Table:
    """Return one row per query: id, status, every measure and the query's text."""
    table = evaluation.shown().table
    rows = []
    for row, query_id in enumerate(table.query_ids):
        scores = [number(column[row]) for column in table.columns.values()]
        status = table.statuses[row].name.lower()
        text = texts.get(query_id, "")
        rows.append((Cell(query_id, query_id), Cell(status, status), *scores, text_cell(text)))
    return Table(
        "",
        (
            Column("query"),
            Column("status", spare=1),
            *(Column(name, numeric=True) for name in table.columns),
            Column("text", spare=2),
        ),
        tuple(rows),
    )


def text_cell(text: str) -> Cell:
    """Return a query's text, cut to what a table has room for."""
    return Cell(shorten(printable(text), TEXT_WIDTH), text)


def note_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield what a reader must know beside the numbers, one sentence a line."""
    notes = evaluation.notes
    counts = notes.statuses
    failures = [
        f"{counts[QueryStatus.MISSING]} missing",
        _count(counts[QueryStatus.ERROR], "error"),
        _count(counts[QueryStatus.TIMEOUT], "timeout"),
    ]
    effect = ""
    if any(counts[status] for status in FAILED):
        effect = " (left out)" if _left_out(evaluation, FAILED) else " (each counts 0)"
    share = ""
    if not isnan(notes.judged_share):
        share = f"; {notes.judged_share:.0%} of the first 10 hits are judged"
        if notes.judged_share < 1:
            share += " (unjudged hits count as not relevant)"
    yield f"{queries(notes.queries)}: {', '.join(failures)}{effect}, {invalid_text(notes)}{share}"
    missing = _with_status(evaluation, (QueryStatus.MISSING,))
    if missing:
        names = _first_three([evaluation.table.query_ids[row] for row in missing])
        yield f"{queries(len(missing))} of the gold set missing from the run: {names}"
    if notes.unknown_queries:
        names = _first_three(notes.unknown_queries)
        yield f"{queries(len(notes.unknown_queries))} of the run missing from the gold set: {names}"
    if counts[QueryStatus.UNJUDGED]:
        left_out = _left_out(evaluation, (QueryStatus.UNJUDGED,))
        effect = "left out of the means" if left_out else "count in the means"
        yield f"{queries(counts[QueryStatus.UNJUDGED])} without a relevant target: {effect}"
    yield from clusters_line(notes.queries, notes.clusters)
    if notes.tied:
        kept = "" if notes.ties == "order" else "; --ties order uses the engine's order"
        yield (
            f"in {queries(notes.tied)} equal scores decide where a relevant hit ranks "
            f"(rule: {notes.ties}){kept}"
        )


def invalid_text(notes: Notes) -> str:
    """Return how many hits make no sense and are left out, and why.

    >>> invalid_text(Notes(9, {}, {"not in the corpus": 3, "line below 1": 1}, (), "docid", 0, 0.5))
    '4 invalid hits left out (1 line below 1, 3 not in the corpus)'
    """
    count = _count(sum(notes.invalid.values()), "invalid hit")
    if not notes.invalid:
        return count
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(notes.invalid.items()))
    return f"{count} left out ({reasons})"


def clusters_line(count: int, clusters: int) -> Iterator[str]:
    """Yield how many groups the queries are drawn in, nothing where each is drawn by itself."""
    if clusters:
        yield (
            f"{queries(count)} in {_count(clusters, 'group')} that belong together: intervals and "
            "tests draw whole groups"
        )


def _with_status(evaluation: Evaluation, wanted: Sequence[QueryStatus]) -> list[int]:
    return [row for row, status in enumerate(evaluation.table.statuses) if status in wanted]


def _left_out(evaluation: Evaluation, wanted: Sequence[QueryStatus]) -> bool:
    """Return whether no query with a *wanted* status has a score; averaging decides that."""
    rows = _with_status(evaluation, wanted)
    return all(isnan(column[row]) for column in evaluation.table.columns.values() for row in rows)


def _first_three(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _summary_table(title: str, summaries: Sequence[Summary], notes: tuple[str, ...]) -> Table:
    sure = any(summary.interval for summary in summaries)
    level = next((s.interval.level for s in summaries if s.interval), 0.95)
    columns = [Column("measure"), Column("mean", numeric=True)]
    if sure:
        columns.append(Column(level_title(level), numeric=True))
    columns += [Column("mean answered", numeric=True), Column("n", numeric=True)]
    rows = []
    for summary in summaries:
        cells = [Cell(summary.measure, summary.measure), number(summary.mean)]
        if sure:
            cells.append(interval_cell(summary))
        cells += [number(summary.answered), Cell(str(summary.n), summary.n)]
        rows.append(tuple(cells))
    return Table(title, tuple(columns), tuple(rows), notes)


def level_title(level: float) -> str:
    """Return the heading of intervals at *level*.

    >>> level_title(0.95), level_title(0.999)
    ('95% interval', '99.9% interval')
    """
    return f"{level * 100:g}% interval"


def interval_cell(summary: Summary) -> Cell:
    """Return ``[low, high]``, a dash where there is none."""
    interval = summary.interval
    if interval is None or interval.low is None or interval.high is None:
        return Cell("-")
    return Cell(f"[{number(interval.low).text}, {number(interval.high).text}]")


def queries(count: int) -> str:
    """Return the number with its noun."""
    return f"{count} query" if count == 1 else f"{count} queries"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
