"""A table as data: what every renderer draws."""

from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

__all__ = ["Cell", "Column", "Table", "number"]


class Cell(NamedTuple):
    """A piece of text with the value behind it; *best* is marked by the renderer."""

    text: str
    value: float | str | None = None
    best: bool = False


class Column(NamedTuple):
    """A heading; numbers are set to the right.

    A *spare* column may be left out where there is no room, the one with the highest number first.
    """

    title: str
    numeric: bool = False
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below headings; beneath them notes for the reader, and what it all means.

    *warnings* stand before everything else.

    In a *grouped* table a row whose first cell is filled begins a new group.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())
    conclusion: str = ""
    grouped: bool = False
    warnings: tuple[str, ...] = ()


def number(
    value: float | None, *, signed: bool = False, best: bool = False, digits: int = 4
) -> Cell:
    """Return a cell with *digits* behind the point, fewer for large numbers, a dash for none.

    >>> number(0.5).text, number(None).text, number(0.041, signed=True).text, number(812.5).text
    ('0.5000', '-', '+0.0410', '812.5')

    What rounds to zero has no sign.

    >>> number(-0.00001, signed=True).text
    '0.0000'
    """
    if value is None or not isfinite(value):
        return Cell("-", None)
    digits = digits if abs(value) < 100 else 1
    sign = "+" if signed and round(value, digits) else ""
    # Adding 0.0 turns a negative zero into the plain one.
    return Cell(f"{round(value, digits) + 0.0:{sign}.{digits}f}", value, best)
