"""Means as bars with their intervals, and counts as stacked bars."""

from collections.abc import Sequence

from karat.model.comparison import Mean
from karat.report.findings.ranks import Shares
from karat.report.html.drawing import WIDTH, chart, label, text, x_axis
from karat.report.html.markup import Markup, joined, number, tag
from karat.report.html.scale import Scale, nice

__all__ = ["keys", "mean_bars", "stacked_bars"]

LEFT, ROW, BAR = 134, 25, 13
# A count is written into its part of a bar where it has so much room, by its digits.
ROOM = {1: 12, 2: 19, 3: 26, 4: 34}


def mean_bars(means: Sequence[Mean], colours: Sequence[str], *, bounded: bool) -> Markup:
    """Return one bar per run, the interval as a whisker, the mean as a number at the right."""
    right = WIDTH - 52
    highest = 1.0 if bounded else max([mean.interval.high or mean.mean or 0.0 for mean in means])
    ticks = nice(highest)
    scale = Scale(0.0, ticks[-1], LEFT, right)
    bottom = 6 + ROW * len(means)
    parts = [x_axis(scale, ticks, top=4, bottom=bottom)]
    for place, (mean, colour) in enumerate(zip(means, colours, strict=True)):
        middle = 6 + ROW * place + ROW / 2
        parts.append(label(LEFT - 8, middle + 4, mean.system, room=LEFT - 10))
        if mean.mean is None:
            parts.append(text(WIDTH - 2, middle + 4, "-", anchor="end"))
            continue
        parts.append(_bar(scale, mean, middle, colour))
        digits = 3 if mean.mean < 100 else 0
        parts.append(text(WIDTH - 2, middle + 4, f"{mean.mean:,.{digits}f}", anchor="end"))
    return chart(bottom + 22, *parts, title=f"Mean {means[0].metric} of each run with its interval")


def _bar(scale: Scale, mean: Mean, middle: float, colour: str) -> Markup:
    value, interval = mean.mean or 0.0, mean.interval
    tip = f"{mean.system}: {value:.4f}"
    if interval.low is not None and interval.high is not None:
        tip += f" [{interval.low:.4f}, {interval.high:.4f}], {interval.method}, n = {mean.n}"
    bar = tag(
        "rect",
        x=scale(0.0),
        y=middle - BAR / 2,
        width=max(scale(value) - scale(0.0), 0.5),
        height=BAR,
        class_=f"bar {colour}",
    )
    if interval.low is None or interval.high is None:
        return tag("g", bar, data_tip=tip)
    low, high = scale(interval.low), scale(interval.high)
    ends = "".join(f"M{number(end)} {number(middle - 4)}v8" for end in (low, high))
    whisker = tag(
        "path", d=f"M{number(low)} {number(middle)}H{number(high)}{ends}", class_="whisker"
    )
    reach = high - scale(0.0)
    under = tag("rect", x=LEFT, y=middle - ROW / 2, width=reach, height=ROW, class_="reach")
    return tag("g", bar, whisker, under, data_tip=tip)


def stacked_bars(
    rows: Sequence[Shares], kinds: Sequence[str], classes: Sequence[str], *, title: str
) -> Markup:
    """Return one bar per run, cut into *kinds*; a count stands inside where it fits."""
    right = WIDTH - 6
    bottom = 4 + ROW * len(rows)
    parts = []
    for place, row in enumerate(rows):
        top = 4 + ROW * place + 3
        parts.append(label(LEFT - 8, top + 14, row.run, room=LEFT - 10))
        total = sum(row.counts)
        scale = Scale(0.0, total or 1, LEFT, right)
        done = 0
        for kind, class_, count in zip(kinds, classes, row.counts, strict=True):
            if count:
                box = _box(scale, done, count, top=top, class_=class_)
                tip = f"{row.run}: {kind}, {count} of {total} ({count / total:.0%})"
                parts.append(tag("g", box, data_tip=tip))
            done += count
    return chart(bottom, *parts, title=title)


def _box(scale: Scale, done: int, count: int, *, top: float, class_: str) -> Markup:
    x, width = scale(done), scale(done + count) - scale(done)
    box = tag("rect", x=x, y=top, width=width, height=ROW - 6, class_=f"seg {class_}")
    if width < ROOM.get(len(str(count)), 42):
        return box
    middle = x + width / 2
    return joined(box, text(middle, top + 14, str(count), anchor="middle", class_=f"on {class_}"))


def keys(kinds: Sequence[str], classes: Sequence[str]) -> Markup:
    """Return what the parts of stacked bars mean."""
    items = []
    for kind, class_ in zip(kinds, classes, strict=True):
        box = tag("rect", width=14, height=14, class_=f"seg {class_}")
        sample = tag("svg", box, viewBox="0 0 14 14", aria_hidden="true", class_="box")
        items.append(tag("li", sample, kind))
    return tag("ul", *items, class_="legend")
