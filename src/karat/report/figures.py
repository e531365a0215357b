"""Charts as PNG and SVG files, for papers and slides; drawn by matplotlib."""

from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import InputError, MissingExtra
from karat.report.findings import Findings
from karat.report.findings.latency import ecdf
from karat.scoring.stats import percentiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CHARTS", "write_figures"]

SUFFIXES = ("png", "svg")
SIZE = (6.4, 4.0)
DOTS_PER_INCH = 200
BINS = 10
LEGEND_COLUMNS = 3


def write_figures(findings: Findings, folder: str | Path) -> list[Path]:
    """Write each of CHARTS that *findings* have data for, and return the files.

    Charts of latency are left out where nothing was timed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="charts", purpose="drawing charts") from error
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: no folder for charts: {error.strerror}") from error
    written = []
    for name, draw in CHARTS.items():
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        if not draw(findings, axes):
            continue
        axes.spines[["top", "right"]].set_visible(False)
        # Inside the axes it would hide what lies there.
        figure.legend(loc="outside lower center", ncols=LEGEND_COLUMNS, frameon=False)
        written += [_saved(figure, place / f"{name}.{suffix}") for suffix in SUFFIXES]
    return written


def _saved(figure: "Figure", path: Path) -> Path:
    # Without the date the same report gives the same bytes.
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)
    return path


def _f1_distribution(findings: Findings, axes: "Axes") -> bool:
    """Draw how many queries of each run reach which F1; say whether there was something to draw."""
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
    axes.set(xlabel="milliseconds a query", ylabel="queries", title="Distribution of latency")
    return True


def _accuracy_vs_latency(findings: Findings, axes: "Axes") -> bool:
    """Draw each run by its mean F1 and its median latency; False where none was timed."""
    rows = ecdf(findings)
    for row in rows:
        scores = [score for score in findings.f1[findings.names.index(row.run)] if not isnan(score)]
        (median,) = percentiles(row.milliseconds, (50,))
        axes.scatter([median or 0.0], [sum(scores) / max(len(scores), 1)], label=row.run)
    axes.set(
        xlabel="median milliseconds a query",
        ylabel="mean F1 of all hits returned",
        title="Accuracy and latency",
    )
    axes.margins(0.1)
    axes.set_ylim(bottom=0.0)
    return bool(rows)


CHARTS: "dict[str, Callable[[Findings, Axes], bool]]" = {
    "f1_distribution": _f1_distribution,
    "latency_distribution": _latency_distribution,
    "accuracy_vs_latency": _accuracy_vs_latency,
}
