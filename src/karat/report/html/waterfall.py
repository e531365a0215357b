"""The change of every query against the baseline, from the best to the worst."""

from karat.report.findings.deltas import Waterfall
from karat.report.html.drawing import WIDTH, chart, text, y_axis
from karat.report.html.markup import Markup, number, tag
from karat.report.html.scale import Scale, nice

__all__ = ["waterfall"]

LEFT, TOP, HEIGHT = 46, 22, 190


def waterfall(found: Waterfall, measure: str, baseline: str) -> Markup:
    """Return one bar per query; those above the line are better with this run where more is."""
    largest = max(map(abs, found.changes), default=0.0)
    ticks = nice(largest, parts=2)
    levels = [*(-tick for tick in reversed(ticks[1:])), *ticks]
    bottom = TOP + HEIGHT
    across = Scale(0.0, max(len(found.changes), 1), LEFT, WIDTH - 4)
    up = Scale(levels[0], levels[-1], bottom, TOP)
    better = found.changes[0] > 0 if found.changes else True
    kinds = ("gain", "loss") if better or not found.improved else ("loss", "gain")
    parts = [y_axis(up, levels, left=LEFT, right=WIDTH - 4)]
    for class_, sign in zip(kinds, (1, -1), strict=True):
        d = "".join(
            f"M{number(across(place))} {number(up(0.0))}V{number(up(change))}"
            f"H{number(across(place + 1))}V{number(up(0.0))}z"
            for place, change in enumerate(found.changes)
            if change * sign > 0
        )
        parts.append(tag("path", d=d, class_=class_))
    parts += [
        tag("line", x1=LEFT, x2=WIDTH - 4, y1=up(0.0), y2=up(0.0), class_="zero"),
        text(LEFT, 13, f"{found.improved} better", class_="gain"),
        text((LEFT + WIDTH) / 2, 13, f"{found.same} the same", anchor="middle", class_="tick"),
        text(WIDTH - 4, 13, f"{found.worse} worse", anchor="end", class_="loss"),
    ]
    return chart(
        bottom + 8,
        *parts,
        title=f"Change of {measure} per query, {found.name} against {baseline}: {found.improved} "
        f"better, {found.same} the same, {found.worse} worse",
        data_waterfall=str(found.run),
        data_left=str(LEFT),
        data_right=str(WIDTH - 4),
    )
