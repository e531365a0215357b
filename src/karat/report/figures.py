"""Charts as files: SVG by Karat itself, PNG and the plots of notebooks by matplotlib."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, MissingExtra
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.charts import COLOURS, EQUAL, Chart, Series, charts, differences, sorted_scores
from karat.report.findings import Findings
from karat.report.svg import svg
from karat.system.files import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SIZE = (6.4, 4.0)
DOTS_PER_INCH = 200
LEGEND_COLUMNS = 3


def write_figures(findings: Findings, folder: str | Path) -> list[Path]:
    """Write each chart that *findings* have data for, and return the files.

    Each is an SVG file, and a PNG file where matplotlib is installed.
    """
    directory = Path(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{directory}: cannot create the folder for charts: {error.strerror}"
        ) from error
    written = []
    for name, chart in charts(findings):
        path = directory / f"{name}.svg"
        write_text(path, svg(chart))
        written.append(path)
        if find_spec("matplotlib") is not None:
            written.append(_write_png(chart, directory / f"{name}.png"))
    return written


def _write_png(chart: Chart, path: Path) -> Path:
    figure = _figure_class()(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    draw_chart(axes, chart)
    if chart.legend:
        # Inside the axes it would hide data.
        figure.legend(loc="outside lower center", ncols=LEGEND_COLUMNS, frameon=False)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    return path


def _figure_class() -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="charts", purpose="drawing charts") from error
    return Figure


def draw_chart(axes: "Axes", chart: Chart) -> None:
    """Draw *chart* on axes of matplotlib, without its legend."""
    axes.set_prop_cycle(color=COLOURS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label, title=chart.title)
    for place, one in enumerate(chart.series):
        label, colours = one.name or None, one.colours or None
        if chart.kind == "bars":
            _draw_bars(axes, chart, one, place)
        elif chart.kind == "lines":
            axes.plot(one.xs, one.values, label=label)
        elif chart.kind == "columns":
            axes.bar(one.xs, one.values, color=colours, width=chart.width, label=label)
        else:
            axes.scatter(one.xs, one.values, label=label)
    if chart.kind == "bars":
        axes.set_yticks(range(len(chart.categories)), list(chart.categories))
        axes.invert_yaxis()
    elif chart.kind == "columns":
        axes.axhline(0.0, color=EQUAL, linewidth=0.8)
    lowest = min((value for one in chart.series for value in one.values), default=0.0)
    if chart.from_zero and lowest >= 0:
        axes.set_ylim(bottom=0.0)


def _draw_bars(axes: "Axes", chart: Chart, one: Series, place: int) -> None:
    height = 0.8 / len(chart.series)
    shift = (place - (len(chart.series) - 1) / 2) * height
    ends = None
    if one.spans:
        pairs = list(zip(one.values, one.spans, strict=True))
        ends = [
            [abs(value - low) for value, (low, _) in pairs],
            [abs(high - value) for value, (_, high) in pairs],
        ]
    axes.barh(
        [row + shift for row in range(len(one.values))],
        one.values,
        xerr=ends,
        height=height * 0.9,
        capsize=2,
        color=one.colours or None,
        label=one.name or None,
    )


KINDS = ("means", "queries", "differences")


def plot(
    result: Evaluation | ComparisonResult, measure: str | None, *, kind: str = "", ax: Any = None
) -> Any:
    """Draw *result* on *measure*, by default the first, and return the axes.

    *kind* is one of KINDS; by default two runs are drawn by their differences, others by their
    means, and a single run by its sorted scores. Without *ax*, pyplot makes a new figure.
    """
    _figure_class()
    runs = [result] if isinstance(result, Evaluation) else [result[name] for name in result]
    runs = [run.reportable() for run in runs]
    lower_is_better = () if isinstance(result, Evaluation) else result.comparison.lower_is_better
    label = measure or runs[0].keys()[0]
    chosen = kind or {1: "queries", 2: "differences"}.get(len(runs), "means")
    if chosen not in KINDS:
        raise InputError(f"no plot {kind!r}; expected {', '.join(KINDS)}")
    if chosen == "differences" and len(runs) < 2:
        raise InputError("a plot of differences needs two runs; kind='queries' shows one")
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=SIZE, layout="constrained")
    if chosen == "means":
        chart: Chart | None = _means(runs, label)
    elif chosen == "queries":
        chart = sorted_scores({run.name: run.per_query(label).values() for run in runs}, label)
    else:
        chart = differences(
            [list(run.per_query(label).values()) for run in (runs[0], runs[-1])],
            names=(runs[0].name, runs[-1].name),
            measure=label,
            lower=runs[0].canonical(label) in lower_is_better,
        )
    if chart is not None:
        draw_chart(ax, chart)
        if chart.legend:
            ax.legend(frameon=False)
    return ax


def _means(runs: Sequence[Evaluation], label: str) -> Chart:
    """Return one bar per run with its confidence interval."""
    intervals = [run.interval(label) for run in runs]
    spans = [
        (each.low, each.high)
        for each in intervals
        if each is not None and each.low is not None and each.high is not None
    ]
    means = Series(
        "",
        tuple(run[label] for run in runs),
        # One run without an interval has none; several have one each.
        spans=tuple(spans) if len(spans) == len(runs) else (),
        colours=tuple(COLOURS[place % len(COLOURS)] for place in range(len(runs))),
    )
    return Chart("bars", "", label, "", (means,), tuple(run.name for run in runs))
