"""Every query of every run as a shade: where runs agree, and where they do not."""

from collections.abc import Sequence
from math import isnan

from karat.report.findings import Findings
from karat.report.findings.leaderboard import best_first
from karat.report.html.drawing import chart, label, text
from karat.report.html.markup import Markup, number, tag
from karat.report.html.scale import Scale

__all__ = ["SHADES", "heatmap", "query_order", "shade"]

SHADES = 6
WIDE, LEFT, ROW = 940, 150, 20
NO_SCORE = "hx"


def query_order(findings: Findings) -> list[int]:
    """Return the queries from the easiest to the hardest, by the mean over runs; unscored last."""
    runs = [findings.scores(run) for run in range(len(findings.names))]
    sign = 1.0 if findings.lower_is_better else -1.0

    def ease(row: int) -> tuple[bool, float]:
        known = [scores[row] for scores in runs if not isnan(scores[row])]
        return (not known, sign * sum(known) / len(known) if known else 0.0)

    return sorted(range(len(findings.gold)), key=ease)


def shade(value: float, highest: float) -> str:
    """Return the class of a score: h0 for none at all, h1 to h5 in equal steps.

    >>> shade(0.0, 1.0), shade(0.01, 1.0), shade(0.2, 1.0), shade(1.0, 1.0), shade(float("nan"), 1)
    ('h0', 'h1', 'h2', 'h5', 'hx')
    """
    if isnan(value):
        return NO_SCORE
    steps = SHADES - 1
    return f"h{min(int(value / highest * steps) + 1, steps) if value > 0 else 0}"


def heatmap(findings: Findings, *, highest: float) -> Markup:
    """Return a row per run, the best first, and a column per query, the easiest first."""
    order = query_order(findings)
    across = Scale(0.0, max(len(order), 1), LEFT, WIDE - 4)
    parts: list[str] = []
    runs = best_first(findings)
    for place, run in enumerate(runs):
        top = 2 + place * ROW
        parts.append(label(LEFT - 8, top + 14, findings.names[run], room=LEFT - 10))
        scores = findings.scores(run)
        parts += _row([shade(scores[query], highest) for query in order], across, top)
    bottom = 2 + ROW * len(runs)
    parts.append(text(LEFT, bottom + 15, "easiest query", class_="tick"))
    parts.append(text(WIDE - 4, bottom + 15, "hardest query", anchor="end", class_="tick"))
    return chart(
        bottom + 20,
        *parts,
        title=f"{findings.lead} of each query in each run; the table of queries has the numbers",
        width=WIDE,
        data_heatmap=" ".join(map(str, runs)),
        data_left=str(LEFT),
        data_right=str(WIDE - 4),
        data_top="2",
        data_row=str(ROW),
    )


def _row(shades: Sequence[str], across: Scale, top: float) -> list[Markup]:
    """Return one path per shade; neighbours of one shade are drawn as one."""
    paths: dict[str, list[str]] = {}
    start = 0
    for place in range(1, len(shades) + 1):
        if place < len(shades) and shades[place] == shades[start]:
            continue
        left, right = number(across(start)), number(across(place))
        paths.setdefault(shades[start], []).append(f"M{left} {top}H{right}v{ROW - 2}H{left}z")
        start = place
    return [tag("path", d="".join(parts), class_=f"seg {name}") for name, parts in paths.items()]
