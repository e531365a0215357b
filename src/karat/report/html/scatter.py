"""Quality against latency, with the front of runs that no other beats on both."""

from collections.abc import Sequence

from karat.report.display import display_width, printable, shorten
from karat.report.findings.pareto import Point
from karat.report.html.drawing import CHARACTER, WIDTH, chart, marker, text, x_axis, y_axis
from karat.report.html.markup import Markup, number, tag
from karat.report.html.scale import Scale, decades, nice

__all__ = ["scatter"]

LEFT, TOP, BOTTOM = 46, 14, 236
# Above so many runs only those on the front are named.
MOST_NAMES = 10
LINE = 14
LONGEST_NAME = 22


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
    parts += _names(points, across, up)
    return chart(BOTTOM + 36, *parts, title=f"Mean {measure} against median latency")


def _names(points: Sequence[Point], across: Scale, up: Scale) -> list[Markup]:
    """Return the names beside their marks, moved apart where they would lie on each other."""
    named = [point for point in points if len(points) <= MOST_NAMES or point.on_front]
    taken: list[tuple[float, float, float]] = []
    parts = []
    for point in sorted(named, key=lambda each: -each.quality):
        name = shorten(printable(point.name), LONGEST_NAME)
        width = display_width(name) * CHARACTER
        x, y = across(point.milliseconds), up(point.quality) - 7
        to_the_left = x + 9 + width > WIDTH - 6
        first = x - 9 - width if to_the_left else x + 9
        while any(
            abs(y - other) < LINE and first < last and start < first + width
            for other, start, last in taken
        ):
            y += LINE
        taken.append((y, first, first + width))
        anchor = "end" if to_the_left else "start"
        parts.append(text(x - 9 if to_the_left else x + 9, y, name, anchor=anchor))
    return parts
