"""Lines over a logarithmic axis: a metric against k, and the distribution of latencies."""

from collections.abc import Sequence
from itertools import pairwise
from math import isnan
from typing import NamedTuple

from karat.report.findings import Curve
from karat.report.findings.latency import Steps
from karat.report.html.drawing import WIDTH, chart, marker, text, x_axis, y_axis
from karat.report.html.markup import Markup, joined, number, tag
from karat.report.html.scale import Scale, decades, nice

__all__ = ["curve_lines", "ecdf_lines"]

LEFT, TOP, BOTTOM = 46, 8, 216
# More steps than this cannot be told apart on paper.
MOST_STEPS = 200


class Paper(NamedTuple):
    """Where things go, and the empty axes."""

    across: Scale
    up: Scale
    axes: Markup


def curve_lines(curve: Curve, colours: Sequence[str], names: Sequence[str]) -> Markup:
    """Return the mean of each run at each cut-off."""
    across = Scale(1.0, max(curve.ks[-1], 2), LEFT + 6, WIDTH - 12, log=True)
    known = [mean for row in curve.means for mean in row if not isnan(mean)]
    levels = nice(max(known, default=1.0))
    paper = _paper(across, [float(k) for k in curve.ks], levels, "k, the first hits looked at")
    parts = []
    for name, row, colour in _best_last(names, curve.means, colours):
        points = [
            (across(k), paper.up(mean), f"{name}: {curve.metric}@{k} {mean:.3f}")
            for k, mean in zip(curve.ks, row, strict=True)
            if not isnan(mean)
        ]
        d = "M" + "L".join(f"{number(x)} {number(y)}" for x, y, _ in points) if points else ""
        parts.append(tag("path", d=d, class_=f"line {colour}"))
        if colour != "cx":
            parts += [marker(x, y, colour, tip=tip) for x, y, tip in points]
    return chart(BOTTOM + 36, paper.axes, *parts, title=f"Mean {curve.metric} at growing cut-offs")


def ecdf_lines(rows: Sequence[Steps], colours: Sequence[str]) -> Markup:
    """Return for each run which share of its queries was answered within which time."""
    times = [time for row in rows for time in (row.milliseconds[0], row.milliseconds[-1])]
    ticks = decades(times)
    across = Scale(ticks[0], ticks[-1], LEFT + 6, WIDTH - 12, log=True)
    paper = _paper(across, ticks, [0.0, 0.25, 0.5, 0.75, 1.0], "milliseconds a query")
    parts = []
    for row, colour in sorted(zip(rows, colours, strict=True), key=lambda pair: pair[1] != "cx"):
        every = max(len(row.shares) // MOST_STEPS, 1)
        steps = [*list(zip(row.milliseconds, row.shares, strict=True))[::every]]
        steps.append((row.milliseconds[-1], 1.0))
        d = f"M{number(across(steps[0][0]))} {number(paper.up(0.0))}"
        d += f"V{number(paper.up(steps[0][1]))}" + "".join(
            f"H{number(across(time))}V{number(paper.up(share))}"
            for (_, _), (time, share) in pairwise(steps)
        )
        parts.append(tag("path", d=d, class_=f"line {colour}", data_tip=row.run))
    return chart(BOTTOM + 36, paper.axes, *parts, title="Share of queries answered within a time")


def _paper(across: Scale, ticks: Sequence[float], levels: Sequence[float], title: str) -> Paper:
    up = Scale(levels[0], levels[-1], BOTTOM, TOP)
    middle = (LEFT + WIDTH) / 2
    axes = joined(
        x_axis(across, ticks, top=TOP, bottom=BOTTOM),
        y_axis(up, levels, left=LEFT, right=WIDTH - 6),
        text(middle, BOTTOM + 32, title, anchor="middle", class_="tick"),
    )
    return Paper(across, up, axes)


def _best_last(
    names: Sequence[str], rows: Sequence[tuple[float, ...]], colours: Sequence[str]
) -> list[tuple[str, tuple[float, ...], str]]:
    """Return the grey runs first, so that the others lie above them."""
    return sorted(zip(names, rows, colours, strict=True), key=lambda entry: entry[2] != "cx")
