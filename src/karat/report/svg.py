"""Charts as SVG, drawn without a library: for reports, papers and slides."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

from karat.report.charts import COLOURS, EQUAL, Chart, Series
from karat.report.display import printable

WIDTH, HEIGHT = 640, 400
FONT = 12
# The width of a letter of the font, as far as a place for text must be known.
LETTER = 7.0
TOP, RIGHT, BOTTOM = 40, 20, 52
LEGEND_ROW = 20
LONGEST_NAME = 40
LONGEST_LABEL = int((HEIGHT - TOP - BOTTOM) / LETTER)
LONGEST_TITLE = int(WIDTH / LETTER) - 8
TICKS = 6
INK, GRID = "#1c2126", "#e3e7eb"
STYLE = f"font: {FONT}px system-ui, -apple-system, 'Segoe UI', sans-serif"
DASHES = ("", "6 3", "2 3", "8 3 2 3")


class Area(NamedTuple):
    """The rectangle of the data, with the values at its edges."""

    left: float
    right: float
    top: float
    bottom: float
    low_x: float
    high_x: float
    low_y: float
    high_y: float

    def x(self, value: float) -> float:
        """Return the horizontal position of *value*."""
        share = (value - self.low_x) / (self.high_x - self.low_x)
        return self.left + share * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return the vertical position of *value*, which grows upwards."""
        share = (value - self.low_y) / (self.high_y - self.low_y)
        return self.bottom - share * (self.bottom - self.top)


def svg(chart: Chart) -> str:
    """Return *chart* as the text of an SVG file; the same chart gives the same text."""
    legend = list(_legend(chart.legend))
    height = HEIGHT + LEGEND_ROW * len(legend)
    area = _area(chart)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" style="{STYLE}">',
        f"<title>{_text(chart.title or chart.y_label)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _label(WIDTH / 2, 24, _short(chart.title, LONGEST_TITLE), anchor="middle", weight="600"),
        *_axes(chart, area),
        *(_bars(chart, area) if chart.kind == "bars" else _marks(chart, area)),
    ]
    for row, names in enumerate(legend):
        parts += _legend_row(names, HEIGHT + row * LEGEND_ROW)
    return "\n".join([*parts, "</svg>"]) + "\n"


def ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Return about *count* round values from *low* to *high*.

    >>> ticks(0.0, 0.83), ticks(-0.4, 1.0, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 0.5, 1.0])
    """
    rough = (high - low) / max(count - 1, 1)
    magnitude = 10.0 ** floor(log10(rough))
    step = next(each * magnitude for each in (1, 2, 5, 10) if each * magnitude >= rough * 0.999)
    first, last = -floor(-low / step + 1e-9), floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _area(chart: Chart) -> Area:
    """Return the rectangle of the data, beside the labels of the vertical axis."""
    values = [value for one in chart.series for value in one.values]
    ends = [end for one in chart.series for span in one.spans for end in span]
    if chart.kind == "bars":
        low_x, high_x = _ends([0.0, *values, *ends])
        longest = max((len(_short(name)) for name in chart.categories), default=0)
        left = 24 + longest * LETTER
        rows = float(len(chart.categories))
        return Area(left, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM, low_x, high_x, 0.0, rows or 1.0)
    xs = [x for one in chart.series for x in one.xs]
    half = chart.width / 2 if chart.kind == "columns" else 0.0
    low_x, high_x = min(xs, default=0.0) - half, max(xs, default=1.0) + half
    if chart.x_ends:
        low_x, high_x = chart.x_ends
    elif chart.kind == "points":
        # Room around the points, and the origin.
        low_x, high_x = 0.0, high_x * 1.1
    zero = [0.0] if chart.from_zero or chart.kind == "columns" else []
    low_y, high_y = _ends([*zero, *values])
    labels = [_number(tick) for tick in ticks(low_y, high_y)]
    left = 44 + max(map(len, labels)) * LETTER
    wide = high_x if high_x > low_x else low_x + 1.0
    return Area(left, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM, low_x, wide, low_y, high_y)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis with all *values*, with some room beyond them."""
    low, high = min(values), max(values)
    if low == high:
        return low, low + 1.0
    room = (high - low) * 0.04
    return (low - room if low < 0 else low), high + room


def _axes(chart: Chart, area: Area) -> Iterator[str]:
    """Yield the grid, the labels of ticks, and the names of both axes."""
    for value in ticks(area.low_x, area.high_x):
        x = area.x(value)
        if chart.kind in ("bars", "points"):
            yield _line(x, area.top, x, area.bottom, GRID)
        yield _label(x, area.bottom + 18, _number(value), anchor="middle")
    for value in ticks(area.low_y, area.high_y) if chart.kind != "bars" else ():
        y = area.y(value)
        yield _line(area.left, y, area.right, y, GRID)
        yield _label(area.left - 8, y + 4, _number(value), anchor="end")
    yield _line(area.left, area.bottom, area.right, area.bottom, EQUAL)
    middle = (area.left + area.right) / 2
    yield _label(middle, area.bottom + 40, chart.x_label, anchor="middle")
    if chart.y_label:
        y = (area.top + area.bottom) / 2
        turned = f' transform="rotate(-90 16 {_place(y)})"'
        yield _label(16, y, _short(chart.y_label, LONGEST_LABEL), anchor="middle", more=turned)


def _bars(chart: Chart, area: Area) -> Iterator[str]:
    """Yield a row per category, with a bar per series and its interval."""
    row_height = (area.bottom - area.top) / max(len(chart.categories), 1)
    height = row_height * 0.8 / len(chart.series)
    for row, name in enumerate(chart.categories):
        top = area.top + row * row_height + row_height * 0.1
        yield _label(area.left - 8, top + row_height * 0.4 + 4, _short(name), anchor="end")
        for place, one in enumerate(chart.series):
            y = top + place * height
            x, value = area.x(min(one.values[row], 0.0)), one.values[row]
            wide = abs(area.x(value) - area.x(0.0))
            yield _rectangle(
                x,
                y + height * 0.05,
                wide,
                height * 0.9,
                _colour(one, place, row),
                said=f"{one.name or name}: {_number(value)}",
            )
            if one.spans:
                low, high = (area.x(end) for end in one.spans[row])
                middle = y + height / 2
                yield _line(low, middle, high, middle, INK)
                for end in (low, high):
                    yield _line(end, middle - 3, end, middle + 3, INK)


def _marks(chart: Chart, area: Area) -> Iterator[str]:
    """Yield the lines, columns or points of all series."""
    for place, one in enumerate(chart.series):
        colour = _colour(one, place, 0)
        points = [(area.x(x), area.y(y)) for x, y in zip(one.xs, one.values, strict=True)]
        if chart.kind == "lines" and len(points) > 1:
            yield _path(points, colour, DASHES[place // len(COLOURS) % len(DASHES)], one.name)
        elif chart.kind == "columns":
            wide = abs(area.x(chart.width) - area.x(0.0))
            for number, (x, y) in enumerate(points):
                top, bottom = sorted((y, area.y(0.0)))
                if bottom > top:
                    colour = _colour(one, place, number)
                    yield _rectangle(x - wide / 2, top, wide, bottom - top, colour)
        else:
            for x, y in points:
                said = f"<title>{_text(one.name)}</title>"
                yield (
                    f'<circle cx="{_place(x)}" cy="{_place(y)}" r="5" fill="{colour}">{said}'
                    "</circle>"
                )
    if chart.kind == "columns":
        yield _line(area.left, area.y(0.0), area.right, area.y(0.0), EQUAL)


def _legend(names: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Yield the rows of the legend: each name with its number, as many as fit side by side."""
    row: list[tuple[int, str]] = []
    for number, name in enumerate(names):
        if row and _row_width([*row, (number, name)]) > WIDTH - 2 * RIGHT:
            yield row
            row = []
        row.append((number, name))
    if row:
        yield row


def _row_width(row: Sequence[tuple[int, str]]) -> float:
    return sum(36 + len(_short(name)) * LETTER for _, name in row)


def _legend_row(row: Sequence[tuple[int, str]], y: float) -> Iterator[str]:
    x = (WIDTH - _row_width(row)) / 2
    for number, name in row:
        yield _rectangle(x, y - 4, 12, 12, COLOURS[number % len(COLOURS)])
        yield _label(x + 18, y + 6, _short(name))
        x += 36 + len(_short(name)) * LETTER


def _colour(one: Series, place: int, number: int) -> str:
    return one.colours[number] if one.colours else COLOURS[place % len(COLOURS)]


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _number(value: float) -> str:
    """Return *value* as a tick shows it.

    >>> _number(0.30000000000000004), _number(1500.0), _number(-2.0)
    ('0.3', '1,500', '-2')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _place(value: float) -> str:
    """Return a position with one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(printable(text))


def _label(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "", more: str = ""
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    where = f'x="{_place(x)}" y="{_place(y)}" text-anchor="{anchor}" fill="{INK}"{bold}{more}'
    return f"<text {where}>{_text(text)}</text>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    ends = zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
    where = " ".join(f'{name}="{_place(value)}"' for name, value in ends)
    return f'<line {where} stroke="{colour}"/>'


def _rectangle(
    x: float, y: float, width: float, height: float, colour: str, *, said: str = ""
) -> str:
    sides = zip(("x", "y", "width", "height"), (x, y, width, height), strict=True)
    where = " ".join(f'{name}="{_place(value)}"' for name, value in sides)
    title = f"<title>{_text(said)}</title>" if said else ""
    return f'<rect {where} fill="{colour}">{title}</rect>'


def _path(points: Sequence[tuple[float, float]], colour: str, dash: str, name: str) -> str:
    """Return a line through *points*, without those that lie on the line between others."""
    kept = [points[0]]
    kept += [
        here
        for before, (here, after) in zip(points, pairwise(points[1:]), strict=False)
        if not before[1] == here[1] == after[1]
    ]
    if len(points) > 1:
        kept.append(points[-1])
    where = " ".join(f"{_place(x)},{_place(y)}" for x, y in kept)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    title = f"<title>{_text(name)}</title>"
    line = f'points="{where}" fill="none" stroke="{colour}" stroke-width="2"{dashed}'
    return f"<polyline {line}>{title}</polyline>"
