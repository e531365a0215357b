"""Quality against latency, with the front of runs that no other beats on both."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.report.display import display_width, printable, shorten
from karat.report.findings.pareto import Point
from karat.report.html.drawing import CHARACTER, WIDTH, chart, marker, text, x_axis, y_axis
from karat.report.html.markup import Markup, number, tag
from karat.report.html.scale import Scale, decades, nice

__all__ = ["scatter"]

LEFT, TOP, BOTTOM = 46, 14, 236
LINE, MARK = 14, 5
LONGEST_NAME = 22


class Box(NamedTuple):
    """A piece of paper, its corners measured from the top left."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Return whether the two share some paper."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: "Box") -> bool:
        """Return whether *other* lies inside."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


PAPER = Box(LEFT, 0, WIDTH, BOTTOM)


def scatter(points: Sequence[Point], colours: Sequence[str], measure: str) -> Markup:
    """Return a mark per run with the interval of its mean; the front is a line of steps."""
    ticks = decades([point.milliseconds for point in points])
    levels = nice(max(point.high or point.quality for point in points))
    across = Scale(ticks[0], ticks[-1], LEFT + 10, WIDTH - 14, log=True)
    up = Scale(levels[0], levels[-1], BOTTOM, TOP)
    front = [point for point in points if point.on_front]
    d = f"M{number(across(front[0].milliseconds))} {number(up(front[0].quality))}" + "".join(
        f"H{number(across(point.milliseconds))}V{number(up(point.quality))}" for point in front[1:]
    )
    parts = [
        x_axis(across, ticks, top=TOP, bottom=BOTTOM),
        y_axis(up, levels, left=LEFT, right=WIDTH - 6),
        text(
            (LEFT + WIDTH) / 2,
            BOTTOM + 32,
            "median milliseconds a query",
            anchor="middle",
            class_="tick",
        ),
        tag("path", d=d + f"H{WIDTH - 6}", class_="front"),
    ]
    for point in points:
        x, colour = across(point.milliseconds), colours[point.run]
        if point.low is not None and point.high is not None:
            parts.append(
                tag(
                    "path",
                    d=f"M{number(x)} {number(up(point.low))}V{number(up(point.high))}",
                    class_=f"span {colour}",
                )
            )
        tip = f"{point.name}: {measure} {point.quality:.3f}, {point.milliseconds:.3g} ms"
        parts.append(marker(x, up(point.quality), colour, tip=tip))
    parts += _names(points, [(across(point.milliseconds), up(point.quality)) for point in points])
    return chart(BOTTOM + 36, *parts, title=f"Mean {measure} against median latency")


def _names(points: Sequence[Point], places: Sequence[tuple[float, float]]) -> list[Markup]:
    """Return the names beside their marks; one that has no room is left to the pointer."""
    taken = [Box(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in places]
    parts = []
    best_first = sorted(range(len(points)), key=lambda place: places[place][1])
    for place in sorted(best_first, key=lambda place: not points[place].on_front):
        name = shorten(printable(points[place].name), LONGEST_NAME)
        for box in _room(places[place], display_width(name) * CHARACTER):
            if PAPER.holds(box) and not any(box.meets(other) for other in taken):
                taken.append(box)
                parts.append(text(box.left, box.bottom - 3, name))
                break
    return parts


def _room(place: tuple[float, float], width: float) -> Iterator[Box]:
    """Yield where a name could stand: right or left of its mark, above or below the line."""
    x, y = place
    for bottom in (y - MARK, y + MARK + LINE):
        for left in (x + MARK, x - MARK - width):
            yield Box(left, bottom - LINE, left + width, bottom)
