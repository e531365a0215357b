"""Tables for a terminal: aligned plain text that survives any query text."""

from collections.abc import Sequence
from textwrap import wrap
from unicodedata import category, east_asian_width

from karat.report.table import Cell, Table

__all__ = ["printable", "render"]

BOLD, RESET = "\x1b[1m", "\x1b[0m"
GAP = "  "
NOTE_WIDTH = 100


def render(table: Table, *, colour: bool = False) -> str:
    """Return *table* as lines; the best value of a column is bold, or starred without *colour*."""
    texts = [[_mark(cell, colour=colour) for cell in row] for row in table.rows]
    titles = [printable(column.title) for column in table.columns]
    widths = [
        max([_width(title), *(_width(row[place]) for row in texts)])
        for place, title in enumerate(titles)
    ]
    numeric = [column.numeric for column in table.columns]
    lines = [table.title, ""] if table.title else []
    lines.append(_line(titles, widths, numeric))
    lines.append(GAP.join("-" * width for width in widths))
    for place, (cells, row) in enumerate(zip(table.rows, texts, strict=True)):
        if table.grouped and place and row[0]:
            lines.append("")
        line = _line(row, widths, numeric)
        if colour:
            for cell, text in zip(cells, row, strict=True):
                if cell.best:
                    line = line.replace(text, f"{BOLD}{text}{RESET}", 1)
        lines.append(line)
    for note in table.notes:
        lines += ["", *wrap(printable(note), NOTE_WIDTH, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def printable(text: str) -> str:
    r"""Return *text* on one line without anything that a terminal would obey.

    >>> printable("list[int] [/path]\x1b[31m")
    'list[int] [/path]\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if category(character)[0] != "C" and character.isprintable()
        else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _mark(cell: Cell, *, colour: bool) -> str:
    text = printable(cell.text)
    return f"{text}*" if cell.best and not colour else text


def _line(texts: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for text, width, to_the_right in zip(texts, widths, numeric, strict=True):
        blank = " " * (width - _width(text))
        padded.append(blank + text if to_the_right else text + blank)
    return GAP.join(padded).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(character) in "WF" for character in text)
    marks = sum(category(character) in ("Mn", "Me") for character in text)
    return len(text) + wide - marks
