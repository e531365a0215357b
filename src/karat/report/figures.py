"""Charts as PNG and SVG files, for papers and slides; drawn by matplotlib."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, MissingExtra
from karat.model.comparison import Mean
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.findings import Findings
from karat.report.findings.latency import ecdf
from karat.scoring.stats import percentiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SUFFIXES = ("png", "svg")
SIZE = (6.4, 4.0)
DOTS_PER_INCH = 200
BINS = 10
LEGEND_COLUMNS = 3
# The colours of runs in the report, as in ui/src/styles/tokens.css.
COLOURS = (
    *("#0072b2", "#d55e00", "#00875f", "#b0578d"),
    *("#a87400", "#2f8fc4", "#6b4fa0", "#5f6b76"),
)
BETTER, WORSE, EQUAL = "#00644a", "#a4161a", "#b9c0c8"


def write_figures(findings: Findings, folder: str | Path) -> list[Path]:
    """Write each of CHARTS that *findings* have data for, and return the files.

    Charts of latency are left out where nothing was timed.
    """
    figure_class = _figure_class()
    directory = Path(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{directory}: cannot create the folder for charts: {error.strerror}"
        ) from error
    written = []
    for name, draw in CHARTS.items():
        figure = figure_class(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        _set_style(axes)
        if not draw(findings, axes):
            continue
        # Inside the axes it would hide data.
        if axes.get_legend_handles_labels()[0]:
            figure.legend(loc="outside lower center", ncols=LEGEND_COLUMNS, frameon=False)
        written += [_saved(figure, directory / f"{name}.{suffix}") for suffix in SUFFIXES]
    return written


def _figure_class() -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="charts", purpose="drawing charts") from error
    return Figure


def _set_style(axes: "Axes") -> None:
    axes.set_prop_cycle(color=COLOURS)
    axes.spines[["top", "right"]].set_visible(False)


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
    _set_style(ax)
    if chosen == "means":
        _draw_means(ax, runs, label)
    elif chosen == "queries":
        _draw_queries(ax, {run.name: run.per_query(label).values() for run in runs}, label)
        ax.legend(frameon=False)
    else:
        lower = runs[0].canonical(label) in lower_is_better
        scores = [list(run.per_query(label).values()) for run in (runs[0], runs[-1])]
        names = (runs[0].name, runs[-1].name)
        _draw_differences(ax, scores, names=names, measure=label, lower=lower)
    return ax


def _draw_means(axes: "Axes", runs: Sequence[Evaluation], label: str) -> None:
    """Draw one bar per run with its confidence interval."""
    for row, run in enumerate(runs):
        mean, interval = run[label], run.interval(label)
        ends = None
        if interval and interval.low is not None and interval.high is not None:
            ends = [[mean - interval.low], [interval.high - mean]]
        axes.barh([row], [mean], xerr=ends, capsize=3, height=0.6)
    axes.set_yticks(range(len(runs)), [run.name for run in runs])
    axes.invert_yaxis()
    axes.set(xlabel=label)


def _draw_queries(axes: "Axes", runs: Mapping[str, Iterable[float]], label: str) -> None:
    """Draw the scores of each run, sorted from the best query to the worst."""
    for name, row in runs.items():
        scores = [score for score in row if not isnan(score)]
        axes.plot(range(1, len(scores) + 1), sorted(scores, reverse=True), label=name)
    axes.set(xlabel="queries, best first", ylabel=label)


def _draw_differences(
    axes: "Axes",
    scores: Sequence[Sequence[float]],
    *,
    names: tuple[str, str],
    measure: str,
    lower: bool,
) -> bool:
    """Draw one bar per query, the second run minus the first, sorted; False without any."""
    first, second = scores
    pairs = zip(first, second, strict=True)
    changes = sorted((new - old for old, new in pairs if not isnan(new - old)), reverse=True)
    sign = -1.0 if lower else 1.0
    colours = [BETTER if sign * x > 0 else WORSE if sign * x < 0 else EQUAL for x in changes]
    axes.bar(range(1, len(changes) + 1), changes, color=colours, width=0.9)
    axes.axhline(0.0, color=EQUAL, linewidth=0.8)
    counts = [colours.count(colour) for colour in (BETTER, EQUAL, WORSE)]
    axes.set(
        xlabel=f"queries: {counts[0]} better, {counts[1]} equal, {counts[2]} worse",
        ylabel=f"{measure}, {names[1]} minus {names[0]}",
        title=f"{names[1]} against {names[0]}, per query",
    )
    return bool(changes)


def _saved(figure: "Figure", path: Path) -> Path:
    # Without the date the same report gives the same bytes.
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)
    return path


def _measures(findings: Findings, axes: "Axes") -> bool:
    """Draw the mean of each measure and run with its interval; False if all of them are counts."""
    comparison = findings.contest.comparison
    drawn = [name for name in comparison.metrics if name not in comparison.lower_is_better]
    height = 0.8 / len(comparison.systems)
    for index, system in enumerate(comparison.systems):
        means = [comparison.mean(system, name) for name in drawn]
        values = [each.mean or 0.0 for each in means]
        # Where there is no interval, it ends at the mean.
        low, high = (
            [abs((each.mean or 0.0) - (_end(each, end) or 0.0)) for each in means]
            for end in ("low", "high")
        )
        rows = [row + index * height for row in range(len(drawn))]
        axes.barh(rows, values, xerr=[low, high], height=height * 0.9, capsize=2, label=system)
    middle = (len(comparison.systems) - 1) * height / 2
    axes.set_yticks(
        [row + middle for row in range(len(drawn))], [comparison.label(name) for name in drawn]
    )
    axes.invert_yaxis()
    axes.set(xlabel="mean, with its interval", title="Measures")
    return bool(drawn)


def _end(mean: Mean, end: str) -> float | None:
    ends = {"low": mean.interval.low, "high": mean.interval.high}
    return mean.mean if ends[end] is None else ends[end]


def _query_scores(findings: Findings, axes: "Axes") -> bool:
    """Draw the sorted scores of each run on the leading measure."""
    rows = {name: findings.scores(run) for run, name in enumerate(findings.names)}
    _draw_queries(axes, rows, findings.contest.comparison.label(findings.lead))
    axes.set(title="Score of each query")
    return True


def _f1_distribution(findings: Findings, axes: "Axes") -> bool:
    """Draw how many queries of each run reach which F1.

    False for judgments of document ids: the F1 of a whole TREC run shows only how deep it is.
    """
    if findings.gold.match == "document":
        return False
    scores = [[score for score in row if not isnan(score)] for row in findings.f1]
    axes.hist(scores, bins=BINS, range=(0.0, 1.0), label=list(findings.names))
    axes.set(xlabel="F1 of all hits returned", ylabel="queries", title="Distribution of F1")
    return True


def _latency_distribution(findings: Findings, axes: "Axes") -> bool:
    """Draw how many queries of each run took how long; False where none was timed."""
    rows = ecdf(findings)
    if not rows:
        return False
    axes.hist([row.milliseconds for row in rows], bins=BINS, label=[row.run for row in rows])
    axes.set(xlabel="milliseconds per query", ylabel="queries", title="Distribution of latency")
    return True


def _accuracy_vs_latency(findings: Findings, axes: "Axes") -> bool:
    """Draw each run by its mean F1 and its median latency; False where none was timed."""
    rows = [] if findings.gold.match == "document" else ecdf(findings)
    for row in rows:
        scores = [score for score in findings.f1[findings.names.index(row.run)] if not isnan(score)]
        (median,) = percentiles(row.milliseconds, (50,))
        axes.scatter([median or 0.0], [sum(scores) / max(len(scores), 1)], label=row.run)
    axes.set(
        xlabel="median milliseconds per query",
        ylabel="mean F1 of all hits returned",
        title="Accuracy and latency",
    )
    axes.margins(0.1)
    axes.set_ylim(bottom=0.0)
    return bool(rows)


def _query_differences(findings: Findings, axes: "Axes") -> bool:
    """Draw the last run against the baseline on each query; False for a single run."""
    if len(findings.names) < 2:
        return False
    first = findings.names.index(findings.baseline)
    last = max(run for run in range(len(findings.names)) if run != first)
    return _draw_differences(
        axes,
        [findings.scores(first), findings.scores(last)],
        names=(findings.baseline, findings.names[last]),
        measure=findings.contest.comparison.label(findings.lead),
        lower=findings.lower_is_better,
    )


CHARTS: "dict[str, Callable[[Findings, Axes], bool]]" = {
    "measures": _measures,
    "query_scores": _query_scores,
    "f1_distribution": _f1_distribution,
    "latency_distribution": _latency_distribution,
    "accuracy_vs_latency": _accuracy_vs_latency,
    "query_differences": _query_differences,
}
