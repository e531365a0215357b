"""The charts of the page, each beside what it means."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan

from karat.report.findings import Findings
from karat.report.findings.deltas import waterfalls
from karat.report.findings.fate_words import FATES, fate_text, told_fates
from karat.report.findings.latency import ecdf, latency_table
from karat.report.findings.leaderboard import best_first, standings
from karat.report.findings.pareto import pareto
from karat.report.findings.ranks import Shares, fates, first_ranks
from karat.report.findings.spending import phase_tables, spent_tables
from karat.report.findings.tables import fate_table
from karat.report.html.bars import keys, mean_bars, stacked_bars
from karat.report.html.drawing import figure, legend
from karat.report.html.heatmap import SHADES, heatmap
from karat.report.html.lines import curve_lines, ecdf_lines
from karat.report.html.markup import Markup, joined, tag
from karat.report.html.scatter import scatter
from karat.report.html.tables import plain_table
from karat.report.html.waterfall import waterfall
from karat.scoring.metrics import parse

__all__ = ["charts", "highest", "lost_targets", "times"]

# Of many charts of one kind so many are open from the start; below so many runs, all bars are.
UNFOLDED = 2
FEW_RUNS = 12
RANK_CLASSES = ("h5", "h4", "h3", "h2", "h1", "h0")


def highest(findings: Findings) -> float:
    """Return the score of the darkest shade: 1, or the highest one of a measure without end."""
    if parse(findings.lead).bounds == (0.0, 1.0):
        return 1.0
    scores = chain.from_iterable(findings.scores(run) for run in range(len(findings.names)))
    return max((score for score in scores if not isnan(score)), default=1.0) or 1.0


def charts(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    """Yield means, changes, the heat map, first ranks, quality against latency and curves."""
    yield legend(list(zip(colours, findings.names, strict=True)))
    bars = list(_mean_bars(findings, colours))
    unfolded = len(bars) if len(findings.names) <= FEW_RUNS else UNFOLDED
    yield from _folded(bars, unfolded, "more measures")
    yield from _folded(list(_waterfalls(findings)), UNFOLDED, "more runs, query by query")
    yield _heatmap(findings)
    yield tag("div", *_relations(findings, colours), *_first_ranks(findings), class_="grid")


def lost_targets(findings: Findings) -> Iterator[Markup]:
    """Yield what became of every relevant target."""
    told = told_fates(findings)
    kinds = [f"{FATES[kind].name}: {fate_text(kind, findings)}" for kind in told]
    classes = [FATES[kind].shade for kind in told]
    counts = fates(findings)
    rows = [
        Shares(counts[run].run, tuple(counts[run].counts[kind] for kind in told))
        for run in best_first(findings)
    ]
    drawn = stacked_bars(rows, kinds, classes, title="What became of the targets")
    meanings = tag("div", keys(kinds, classes), class_="card listed")
    yield tag("div", tag("figure", drawn, class_="card"), meanings, class_="grid")
    yield plain_table(replace(fate_table(findings), notes=()))


def times(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    """Yield the latencies, or that there are none."""
    steps = ecdf(findings)
    if steps:
        yield plain_table(latency_table(findings))
    else:
        yield tag("p", "No run has latencies: not measured.", class_="sub")
    for told in (*spent_tables(findings.runs), *phase_tables(findings.runs)):
        yield tag("h3", told.title)
        yield plain_table(told)
    if not steps:
        return
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
    baseline, measure = findings.names[0], findings.change_of
    falls = {found.run: found for found in waterfalls(findings)}
    for found in (falls[run] for run in best_first(findings) if run in falls):
        title = f"Change of {measure} per query: {found.name} against {baseline}"
        yield figure(title, waterfall(found, measure, baseline))


def _folded(figures: Sequence[Markup], unfolded: int, what: str) -> Iterator[Markup]:
    """Yield the first figures side by side, and the others in a part that opens on demand."""
    first, others = figures[:unfolded], figures[unfolded:]
    if first:
        yield tag("div", *first, class_="grid")
    if others:
        summary = tag("summary", f"{len(others)} {what}")
        yield tag("details", summary, tag("div", *others, class_="grid"), class_="more")


def _heatmap(findings: Findings) -> Markup:
    steps = SHADES - 1
    top = highest(findings)
    kinds = ["0", *(f"up to {top * step / steps:g}" for step in range(1, SHADES)), "not scored"]
    classes = [f"h{step}" for step in range(SHADES)] + ["hx"]
    drawn = tag("div", heatmap(findings, highest=top), class_="scroll wide", tabindex="0")
    title = f"{findings.lead} of every query"
    return figure(title, joined(drawn, keys(kinds, classes)), class_="broad")


def _relations(findings: Findings, colours: Sequence[str]) -> Iterator[Markup]:
    points = pareto(findings)
    if points:
        yield figure(
            "Quality against latency",
            scatter(points, colours, findings.lead),
            "No other run is both better and faster than one on the line.",
        )
    for curve in findings.curves:
        if len(curve.ks) > 1:
            yield figure(f"{curve.metric} against k", curve_lines(curve, colours, findings.names))


def _first_ranks(findings: Findings) -> Iterator[Markup]:
    title = "Rank of the first relevant hit"
    names, rows = first_ranks(findings)
    best = [rows[run] for run in best_first(findings)]
    drawn = stacked_bars(best, names, RANK_CLASSES, title=title)
    yield figure(title, joined(drawn, keys(names, RANK_CLASSES)))
