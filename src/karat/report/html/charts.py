"""The charts of the page, each beside what it means."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isnan

from karat.metrics import parse
from karat.report.findings import Findings
from karat.report.findings.deltas import waterfalls
from karat.report.findings.latency import ecdf, latency_table
from karat.report.findings.leaderboard import standings
from karat.report.findings.pareto import pareto
from karat.report.findings.ranks import Shares, fates, first_ranks
from karat.report.findings.tables import fate_table
from karat.report.html.bars import keys, mean_bars, stacked_bars
from karat.report.html.drawing import figure, legend
from karat.report.html.heatmap import SHADES, heatmap
from karat.report.html.lines import curve_lines, ecdf_lines
from karat.report.html.markup import Markup, joined, tag
from karat.report.html.scatter import scatter
from karat.report.html.tables import plain_table
from karat.report.html.waterfall import waterfall

__all__ = ["charts", "highest", "lost_targets", "times"]

# So many waterfalls are open from the start.
UNFOLDED = 2
RANK_CLASSES = ("h5", "h4", "h3", "h2", "h1", "h0")
FATE_CLASSES = ("h5", "h3", "lost", "hx")


def highest(findings: Findings) -> float:
    """Return the score of the darkest shade: 1, or the highest one of a measure without end."""
    if parse(findings.lead).bounds == (0.0, 1.0):
        return 1.0
    scores = chain.from_iterable(findings.scores(run) for run in range(len(findings.names)))
    return max((score for score in scores if not isnan(score)), default=1.0) or 1.0


def charts(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    """Yield means, changes, the heat map, first ranks, quality against latency and curves."""
    yield legend(list(zip(colours, findings.names, strict=True)))
    yield tag("div", *_mean_bars(findings, colours), class_="grid")
    falls = list(_waterfalls(findings))
    if falls:
        yield tag("div", *falls, class_="grid")
    yield _heatmap(findings)
    curves = (
        figure(f"{curve.metric} against k", curve_lines(curve, colours, findings.names))
        for curve in findings.curves
        if len(curve.ks) > 1
    )
    yield tag("div", *_distributions(findings, colours), *curves, class_="grid")


def lost_targets(findings: Findings) -> Iterator[Markup]:
    """Yield what became of every relevant target."""
    depth = max((trace.retrieved for row in findings.traces for trace in row), default=0)
    kinds = (
        f"found in the first {findings.k}",
        f"below rank {findings.k}",
        f"not among the hits returned (at most {depth})",
        "query not answered",
    )
    rows = _best_first(fates(findings), findings)
    drawn = stacked_bars(rows, kinds, FATE_CLASSES, title="What became of the targets")
    chart = tag("figure", drawn, keys(kinds, FATE_CLASSES), class_="card")
    table = plain_table(fate_table(findings))
    yield tag("div", chart, tag("div", table, class_="card"), class_="grid")


def times(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    """Yield the latencies, or that there are none."""
    steps = ecdf(findings)
    if not steps:
        yield tag("p", "No run has latencies: not measured.", class_="sub")
        return
    yield plain_table(latency_table(findings))
    shades = [colours[findings.names.index(row.run)] for row in steps]
    names = [row.run for row in steps]
    drawn = joined(ecdf_lines(steps, shades), legend(list(zip(shades, names, strict=True))))
    yield tag("div", figure("Share of queries answered within a time", drawn), class_="grid")


def _mean_bars(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    comparison = findings.contest.comparison
    rows = standings(findings)
    for place, measure in enumerate(comparison.metrics):
        means = [row.means[place] for row in rows]
        if all(mean.mean is None for mean in means):
            continue
        bounded = parse(measure).bounds == (0.0, 1.0)
        drawn = mean_bars(means, [colours[row.run] for row in rows], bounded=bounded)
        note = "Less is better." if measure in comparison.lower_is_better else ""
        yield figure(measure, drawn, note)


def _waterfalls(findings: Findings) -> Iterator[Markup]:
    baseline = findings.names[0]
    place_of = {row.run: place for place, row in enumerate(standings(findings))}
    best_first = sorted(waterfalls(findings), key=lambda found: place_of[found.run])
    for place, found in enumerate(best_first):
        drawn = waterfall(found, findings.lead, baseline)
        title = f"Change of {findings.lead} per query: {found.name} against {baseline}"
        if place < UNFOLDED:
            yield figure(title, drawn)
        else:
            folded = tag("details", tag("summary", title), drawn)
            yield tag("figure", folded, class_="card")


def _heatmap(findings: Findings) -> Markup:
    steps = SHADES - 1
    top = highest(findings)
    kinds = ["0", *(f"up to {top * step / steps:g}" for step in range(1, SHADES)), "not scored"]
    classes = [f"h{step}" for step in range(SHADES)] + ["hx"]
    drawn = tag("div", heatmap(findings, highest=top), class_="scroll wide", tabindex="0")
    return figure(f"{findings.lead} of every query", joined(drawn, keys(kinds, classes)))


def _distributions(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    names, rows = first_ranks(findings)
    title = "Rank of the first relevant hit"
    drawn = stacked_bars(_best_first(rows, findings), names, RANK_CLASSES, title=title)
    yield figure(title, joined(drawn, keys(names, RANK_CLASSES)))
    points = pareto(findings)
    if points:
        yield figure(
            "Quality against latency",
            scatter(points, colours, findings.lead),
            "No other run is both better and faster than one on the line.",
        )


def _best_first(rows: Sequence[Shares], findings: Findings) -> list[Shares]:
    return [rows[standing.run] for standing in standings(findings)]
