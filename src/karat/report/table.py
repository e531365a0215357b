"""A table as data, for all renderers."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.report.display import headline_and_details, printable

if TYPE_CHECKING:
    from karat.model.comparison import Interval


DIGITS = 3


class Cell(NamedTuple):
    """A piece of text with the value behind it; *best* is marked by the renderer."""

    text: str
    value: float | str | None = None
    best: bool = False


class Column(NamedTuple):
    """A heading; numbers are set to the right.

    A *spare* column may be left out where there is no room, the one with the highest number first.
    *measure* names the one that the scores are of, unless the title is its name.
    """

    title: str
    numeric: bool = False
    spare: int = 0
    measure: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """What it all means, rows of cells below headings, and notes for the reader.

    The *conclusion* comes first, then the *warnings*.

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


def milliseconds(value: float | None) -> Cell:
    """Return a time with three digits that count.

    >>> milliseconds(0.01234).text, milliseconds(3.14159).text, milliseconds(1234.5).text
    ('0.0123', '3.14', '1,234')
    """
    if value is None or isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if value >= 100 else f"{value:#.3g}", value)


def p_cell(p: float | None) -> Cell:
    """Return a p value as verdicts print it, a dash where there is none.

    >>> p_cell(0.0123).text, p_cell(0.00001).text, p_cell(0.04996).text, p_cell(None).text
    ('0.012', '<0.001', '0.04996', '-')
    """
    if p is None:
        return Cell("-")
    # It brings numpy along, which the scores of one run can do without.
    from karat.scoring.stats.verdict import p_value

    return Cell(p_value(p).removeprefix("= ").replace("< ", "<"), p)


def range_cell(interval: "Interval | None", *, signed: bool = False, digits: int = DIGITS) -> Cell:
    """Return ``[low, high]``, a dash where there is none, or that both are identical."""
    if interval is None:
        return Cell("-")
    from karat.model.comparison import IDENTICAL  # scores without intervals need it not

    if interval.method == IDENTICAL:
        return Cell(IDENTICAL)
    if interval.low is None or interval.high is None:
        return Cell("-")
    ends = (number(end, signed=signed, digits=digits) for end in (interval.low, interval.high))
    return Cell(f"[{', '.join(end.text for end in ends)}]")


def marked(table: Table, mark: str) -> Table:
    """Return *table* with *mark* behind each score and the conclusion; "" changes nothing.

    Scores are the fractional numbers; counts, columns of milliseconds and measures that use no
    labels, such as lines@10, have no mark. A conclusion without any marked score has none either.

    >>> row = (number(0.25), Cell("0.5 [0.4, 0.6]", 0.5), Cell("9", 9), number(1.5))
    >>> titles = ("mean", "mrr", "n", "p50 ms")
    >>> columns = tuple(Column(title, numeric=True) for title in titles)
    >>> [cell.text for cell in marked(Table("", columns, (row,)), "†").rows[0]]
    ['0.2500†', '0.5† [0.4, 0.6]', '9', '1.5000']
    """
    if not mark:
        return table
    by_measure = table.columns[0].title == "measure"
    scores = [
        column.numeric
        and not column.title.endswith(" ms")
        and bool(mark_of(mark, column.measure or column.title.partition(" ")[0]))
        for column in table.columns
    ]
    rows = tuple(
        tuple(
            _marked(cell, mark_of(mark, str(row[0].value)) if by_measure else mark)
            if is_score and isinstance(cell.value, float)
            else cell
            for cell, is_score in zip(row, scores, strict=True)
        )
        for row in table.rows
    )
    conclusion = table.conclusion if rows == table.rows else marked_text(table.conclusion, mark)
    return replace(table, rows=rows, conclusion=conclusion)


def mark_of(mark: str, *measures: str) -> str:
    """Return *mark* if one of *measures* uses labels, otherwise "".

    >>> mark_of("†", "ndcg@10", "lines@10"), mark_of("†", "lines@10")
    ('†', '')
    """
    from karat.scoring.metrics.measure import uses_labels

    return mark if mark and any(map(uses_labels, measures)) else ""


def marked_text(text: str, mark: str) -> str:
    """Return *text* with *mark* at the end of its last sentence, before the full stop.

    >>> marked_text("A is better than B: mrr +0.1.", "†"), marked_text("", "†")
    ('A is better than B: mrr +0.1†.', '')
    """
    return f"{text.removesuffix('.')}{mark}." if text and mark else text


def _marked(cell: Cell, mark: str) -> Cell:
    number_text, space, rest = cell.text.partition(" ")
    return cell._replace(text=f"{number_text}{mark}{space}{rest}")


def table_document(table: Table) -> dict[str, Any]:
    """Return *table* as plain values, as JSON and the page have it; NaN is None."""
    return {
        "title": table.title,
        "columns": [{"title": column.title, "numeric": column.numeric} for column in table.columns],
        "rows": [
            [{"text": cell.text, "value": known(cell.value)} for cell in row] for row in table.rows
        ],
        "notes": list(table.notes),
    }


def known(value: object) -> Any:
    """Return *value*, None for NaN, which JSON lacks."""
    return None if isinstance(value, float) and isnan(value) else value


def markdown_table(table: Table) -> str:
    """Return *table* as a pipe table with its title and notes; the best are bold and starred."""
    lines = []
    if table.conclusion:
        headline, details = headline_and_details(table.conclusion)
        lines += [f"**{plain(headline)}**", ""]
        lines += [plain(details), ""] if details else []
    for warning in table.warnings:
        lines += [f"> **Warning:** {plain(warning)}", ""]
    lines += [f"### {plain(table.title)}", ""] if table.title else []
    lines.append("| " + " | ".join(plain(column.title) for column in table.columns) + " |")
    lines.append(
        "|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|"
    )
    for row in table.rows:
        texts = [rf"**{plain(cell.text)}**\*" if cell.best else plain(cell.text) for cell in row]
        lines.append("| " + " | ".join(texts) + " |")
    if table.notes:
        lines.append("")
    lines += [f"- {plain(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def pictures(names: Iterable[str]) -> str:
    """Return a section that shows the pictures in the files of these *names*.

    >>> print(pictures(["f1_distribution.png"]))
    ### Charts
    <BLANKLINE>
    ![f1_distribution](f1_distribution.png)
    <BLANKLINE>
    """
    images = (f"![{name.partition('.')[0]}]({name})\n" for name in names)
    return "\n".join(("### Charts\n", *images))


def plain(text: str) -> str:
    r"""Return *text* with what Markdown would read as markup escaped.

    >>> plain("a|b <img> `x`")
    'a\\|b \\<img\\> \\`x\\`'
    """
    escaped = printable(text)
    for character in "\\`*_[]<>|":
        escaped = escaped.replace(character, "\\" + character)
    return escaped
