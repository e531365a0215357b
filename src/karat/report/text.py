"""Tables for a terminal: aligned plain text, safe for any query text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from karat.report.display import (
    FIRM_BLANK,
    display_width,
    headline_and_details,
    printable,
    shorten,
    shorten_middle,
)
from karat.report.table import Cell, Column, Table

BOLD, RESET = "\x1b[1m", "\x1b[0m"
GAP = "  "
NOTE_WIDTH = 100
NARROWEST_TEXT = 16


def text_table(table: Table, *, colour: bool = False, width: int | None = None) -> str:
    """Return *table* as lines, its conclusion first; the best value of a column is starred.

    With *colour*, the best values and the first sentence of the conclusion are bold.

    A table wider than *width* loses its spare columns one by one, and says which.
    """
    table, hidden = _fitted(table, width)
    texts = _texts(table)
    titles = [printable(column.title) for column in table.columns]
    widths = _widths(table)
    numeric = [column.numeric for column in table.columns]
    lines = [*_conclusion(table, width, colour=colour), *_warnings(table, width)]
    lines += [*_title_lines(table.title, width), ""] if table.title else []
    lines.append(_line(titles, widths, numeric))
    lines.append(GAP.join("-" * width for width in widths))
    for index, (cells, row) in enumerate(zip(table.rows, texts, strict=True)):
        if table.grouped and index and row[0]:
            lines.append("")
        line = _line(row, widths, numeric)
        if colour:
            for cell, text in zip(cells, row, strict=True):
                if cell.best:
                    line = line.replace(text, f"{BOLD}{text}{RESET}", 1)
        lines.append(line)
    notes = [f"too wide for {width} columns, not shown: {', '.join(hidden)}"] if hidden else []
    notes += table.notes
    if notes:
        lines.append("")
    for note in notes:
        lines += _wrapped(note, width, indent=GAP)
    return "\n".join(lines) + "\n"


def _conclusion(table: Table, width: int | None, *, colour: bool) -> Iterator[str]:
    """Yield what it all means, the first sentence in bold."""
    if table.conclusion:
        headline, details = headline_and_details(table.conclusion)
        for line in _wrapped(headline, width):
            yield f"{BOLD}{line}{RESET}" if colour else line
        yield from _wrapped(details, width)
        yield ""


def _warnings(table: Table, width: int | None) -> Iterator[str]:
    for warning in table.warnings:
        yield from _wrapped(f"warning: {warning}", width, indent=GAP)
        yield ""


def _fitted(table: Table, width: int | None) -> tuple[Table, list[str]]:
    """Return *table* with texts cut and spare columns left out until it fits, and their titles."""
    titles, hidden = [column.title for column in table.columns], set[str]()
    if width and len(table.rows) == 1 and _total(table) > width and len(titles) > 2:
        return _upright(table), []
    while width and (excess := _total(table) - width) > 0:
        if (cut := _cut_text(table, excess)) is not None:
            table = cut
            break
        spare = max(range(len(table.columns)), key=lambda index: table.columns[index].spare)
        if not table.columns[spare].spare:
            table = _cut_names(table, excess)
            break
        hidden.add(table.columns[spare].title)
        table = _without(table, spare)
    return table, [title for title in titles if title in hidden]


def _upright(table: Table) -> Table:
    """Return a table of one row with a row for each of its columns but the first."""
    name, *cells = table.rows[0]
    heading, *columns = table.columns
    rows = ((Cell(column.title), cell) for column, cell in zip(columns, cells, strict=True))
    return replace(table, columns=(heading, Column(name.text, numeric=True)), rows=tuple(rows))


def _cut_text(table: Table, excess: int) -> Table | None:
    """Return *table* with its last column cut by *excess*, None where that leaves too little."""
    last = len(table.columns) - 1
    room = _widths(table)[last] - excess
    if table.columns[last].numeric or not table.columns[last].spare or room < NARROWEST_TEXT:
        return None
    rows = ((*row[:-1], Cell(shorten(printable(row[-1].text), room))) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _cut_names(table: Table, excess: int) -> Table:
    """Return *table* with its first column cut in the middle, if names stay readable."""
    room = _widths(table)[0] - excess
    if table.columns[0].numeric or room < NARROWEST_TEXT:
        return table
    rows = ((Cell(shorten_middle(printable(row[0].text), room)), *row[1:]) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _without(table: Table, column: int) -> Table:
    after = column + 1
    return replace(
        table,
        columns=table.columns[:column] + table.columns[after:],
        rows=tuple(row[:column] + row[after:] for row in table.rows),
    )


def _total(table: Table) -> int:
    return sum(_widths(table)) + len(GAP) * (len(table.columns) - 1)


def _widths(table: Table) -> list[int]:
    titles = [printable(column.title) for column in table.columns]
    return [max(map(display_width, column)) for column in zip(titles, *_texts(table), strict=True)]


def _texts(table: Table) -> list[list[str]]:
    """Return the cells as text; beside a star stands a blank, so that the points stay aligned."""
    starred = {column for row in table.rows for column, cell in enumerate(row) if cell.best}
    return [
        [
            printable(cell.text) + ("*" if cell.best else " " if column in starred else "")
            for column, cell in enumerate(row)
        ]
        for row in table.rows
    ]


def _title_lines(title: str, width: int | None) -> list[str]:
    """Return *title* in one line, or in several where that is wider than the terminal."""
    text = printable(title)
    return [text] if width is None else wrap(text, width, break_long_words=False)


def _wrapped(text: str, width: int | None, *, indent: str = "") -> list[str]:
    lines = wrap(
        printable(text),
        min(width or NOTE_WIDTH, NOTE_WIDTH),
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace(FIRM_BLANK, " ") for line in lines]


def _line(texts: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for text, width, to_the_right in zip(texts, widths, numeric, strict=True):
        blank = " " * (width - display_width(text))
        padded.append(blank + text if to_the_right else text + blank)
    return GAP.join(padded).rstrip()
