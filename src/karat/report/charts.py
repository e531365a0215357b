"""Charts as data: bars, lines, columns and points, which SVG files and matplotlib draw."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, NamedTuple

from karat.model.comparison import Mean
from karat.report.findings import Findings
from karat.report.findings.latency import ecdf
from karat.scoring.stats import percentiles

BINS = 10
# The colours of runs in the report, as in ui/src/styles/tokens.css.
COLOURS = (
    *("#0072b2", "#d55e00", "#00875f", "#b0578d"),
    *("#a87400", "#2f8fc4", "#6b4fa0", "#5f6b76"),
)
BETTER, WORSE, EQUAL = "#00644a", "#a4161a", "#b9c0c8"


class Series(NamedTuple):
    """The values of one run: lengths of bars, or heights at *xs*.

    *spans* has the ends of the interval of each value; *colours* those of single bars, "" for the
    colour of the run.
    """

    name: str
    values: tuple[float, ...]
    xs: tuple[float, ...] = ()
    spans: tuple[tuple[float, float], ...] = ()
    colours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: horizontal ``bars`` by category, ``lines``, vertical ``columns``, or ``points``.

    *categories* are the names of the rows of bars. Columns are *width* wide, in units of x; the
    axis of a histogram has *x_ends*. With *from_zero* the vertical axis of lines and points
    includes 0, as that of columns always does.
    """

    kind: Literal["bars", "lines", "columns", "points"]
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    categories: tuple[str, ...] = ()
    width: float = 1.0
    x_ends: tuple[float, float] | None = None
    from_zero: bool = False

    @property
    def legend(self) -> tuple[str, ...]:
        """Return the names of the series, if their colours tell them apart."""
        return tuple(one.name for one in self.series if one.name and not one.colours)


def measures(findings: Findings) -> Chart | None:
    """Return the mean of each measure and run with its interval; None if all are counts."""
    comparison = findings.contest.comparison
    drawn = [name for name in comparison.metrics if name not in comparison.lower_is_better]
    if not drawn:
        return None
    series = []
    for system in comparison.systems:
        means = [comparison.mean(system, name) for name in drawn]
        series.append(
            Series(
                system,
                tuple(each.mean or 0.0 for each in means),
                spans=tuple((_end(each, "low"), _end(each, "high")) for each in means),
            )
        )
    labels = tuple(comparison.label(name) for name in drawn)
    return Chart("bars", "Measures", "mean, with its interval", "", tuple(series), labels)


def _end(mean: Mean, end: str) -> float:
    """Return an end of an interval; where there is none, it ends at the mean."""
    value = {"low": mean.interval.low, "high": mean.interval.high}[end]
    return (mean.mean if value is None else value) or 0.0


def query_scores(findings: Findings) -> Chart:
    """Return the sorted scores of each run on the leading measure."""
    rows = {name: findings.scores(run) for run, name in enumerate(findings.names)}
    label = findings.contest.comparison.label(findings.lead)
    return sorted_scores(rows, label, title="Score of each query")


def sorted_scores(rows: Mapping[str, Iterable[float]], label: str, *, title: str = "") -> Chart:
    """Return the scores of each run, sorted from the best query to the worst."""
    series = []
    for name, row in rows.items():
        scores = sorted((score for score in row if not isnan(score)), reverse=True)
        series.append(Series(name, tuple(scores), tuple(map(float, range(1, len(scores) + 1)))))
    return Chart("lines", title, "queries, best first", label, tuple(series), from_zero=True)


def f1_distribution(findings: Findings) -> Chart | None:
    """Return how many queries of each run reach which F1.

    None for judgments of document ids: the F1 of a whole TREC run shows only how deep it is.
    """
    if findings.gold.match == "document" or not findings.has_hits:
        return None
    rows = dict(zip(findings.names, findings.f1, strict=True))
    return _histogram(rows, "Distribution of F1", "F1 of all hits returned", ends=(0.0, 1.0))


def latency_distribution(findings: Findings) -> Chart | None:
    """Return how many queries of each run took how long; None where none was timed."""
    rows = {row.run: row.milliseconds for row in ecdf(findings)}
    if not rows:
        return None
    times = [time for row in rows.values() for time in row]
    ends = (min(times), max(times))
    return _histogram(rows, "Distribution of latency", "milliseconds per query", ends=ends)


def _histogram(
    rows: Mapping[str, Iterable[float]], title: str, label: str, *, ends: tuple[float, float]
) -> Chart:
    """Return how many values of each row lie in each of ten equal parts from end to end."""
    low, high = ends
    step = (high - low) / BINS or 1.0
    # The columns of a bin stand side by side, with a gap to the next bin.
    width = 0.8 * step / len(rows)
    series = []
    for place, (name, row) in enumerate(rows.items()):
        counts = [0] * BINS
        for value in row:
            if not isnan(value):
                counts[min(int((value - low) / step), BINS - 1)] += 1
        first = low + 0.1 * step + (place + 0.5) * width
        xs = tuple(first + number * step for number in range(BINS))
        series.append(Series(name, tuple(map(float, counts)), xs))
    return Chart(
        "columns",
        title,
        label,
        "queries",
        tuple(series),
        width=width,
        x_ends=(low, low + BINS * step),
    )


def accuracy_vs_latency(findings: Findings) -> Chart | None:
    """Return each run by its mean F1 and its median latency; None where none was timed."""
    series = []
    for row in ecdf(findings):
        scores = [score for score in findings.f1[findings.names.index(row.run)] if not isnan(score)]
        (median,) = percentiles(row.milliseconds, (50,))
        mean = sum(scores) / max(len(scores), 1)
        series.append(Series(row.run, (mean,), (median or 0.0,)))
    if not series or findings.gold.match == "document":
        return None
    x, y = "median milliseconds per query", "mean F1 of all hits returned"
    return Chart("points", "Accuracy and latency", x, y, tuple(series), from_zero=True)


def query_differences(findings: Findings) -> Chart | None:
    """Return the last run against the baseline on each query; None for a single run."""
    if len(findings.names) < 2:
        return None
    first = findings.names.index(findings.baseline)
    last = max(run for run in range(len(findings.names)) if run != first)
    return differences(
        [findings.scores(first), findings.scores(last)],
        names=(findings.baseline, findings.names[last]),
        measure=findings.contest.comparison.label(findings.lead),
        lower=findings.lower_is_better,
    )


def differences(
    scores: Sequence[Sequence[float]], *, names: tuple[str, str], measure: str, lower: bool
) -> Chart | None:
    """Return one column per query, the second run minus the first, sorted; None without any."""
    first, second = scores
    pairs = zip(first, second, strict=True)
    changes = sorted((new - old for old, new in pairs if not isnan(new - old)), reverse=True)
    if not changes:
        return None
    sign = -1.0 if lower else 1.0
    colours = [BETTER if sign * x > 0 else WORSE if sign * x < 0 else EQUAL for x in changes]
    better, equal, worse = (colours.count(colour) for colour in (BETTER, EQUAL, WORSE))
    xs = tuple(map(float, range(1, len(changes) + 1)))
    return Chart(
        "columns",
        f"{names[1]} against {names[0]}, per query",
        f"queries: {better} better, {equal} equal, {worse} worse",
        f"{measure}, {names[1]} minus {names[0]}",
        (Series("", tuple(changes), xs, colours=tuple(colours)),),
        width=0.9,
    )


CHARTS: Mapping[str, Callable[[Findings], Chart | None]] = {
    "measures": measures,
    "query_scores": query_scores,
    "f1_distribution": f1_distribution,
    "latency_distribution": latency_distribution,
    "accuracy_vs_latency": accuracy_vs_latency,
    "query_differences": query_differences,
}


def charts(findings: Findings) -> Iterator[tuple[str, Chart]]:
    """Yield the name and the data of each chart that *findings* have data for."""
    for name, make in CHARTS.items():
        if (chart := make(findings)) is not None:
            yield name, chart
