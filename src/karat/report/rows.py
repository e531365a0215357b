"""The rows of a result, which text, CSV, LaTeX, notebooks and frames draw each in their way.

A number that does not exist is None here, never NaN. Measures have the names that users typed.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from karat.model.evaluation import ComparisonResult, Evaluation, Summary
from karat.model.frozen import EMPTY
from karat.report.table import known

if TYPE_CHECKING:
    from karat.model.comparison import Difference, Interval

Result = Evaluation | ComparisonResult


class MeanRow(NamedTuple):
    """The mean of a *measure* over the *n* queries of a *run*, or over those with a tag."""

    run: str
    tag: str
    value: str
    measure: str
    mean: float | None
    low: float | None
    high: float | None
    answered: float | None
    n: int


class RunRow(NamedTuple):
    """One run: its *summaries*, and its *change* from the baseline on the first measure.

    The first measure is the one that the runs are compared by. *best* says whether every other run
    is significantly worse on it; *median_ms* is None where nothing was timed.
    """

    run: str
    summaries: tuple[Summary, ...]
    change: "Difference | None" = None
    is_baseline: bool = False
    best: bool = False
    median_ms: float | None = None


class QueryRow(NamedTuple):
    """The scores of one query in one run, in the order of the measures."""

    run: str
    query: str
    status: str
    scores: tuple[float | None, ...]


class DifferenceRow(NamedTuple):
    """The difference of two runs on a measure, of all queries or of those with a value of a tag."""

    tag: str
    value: str
    entry: "Difference"


def runs_of(result: Result) -> list[Evaluation]:
    """Return the scored runs as they are shown: with intervals and typed names."""
    runs = [result] if isinstance(result, Evaluation) else [result[name] for name in result]
    return [run.reportable().labelled() for run in runs]


def run_rows(
    result: Result, medians_ms: Mapping[str, float] = EMPTY, *, ranked: bool = False
) -> list[RunRow]:
    """Return one row per run, in their order; *ranked* by the first measure, the best first."""
    runs = runs_of(result)
    if isinstance(result, Evaluation):
        return [RunRow(one.name, one.summaries, median_ms=medians_ms.get(one.name)) for one in runs]
    comparison = result.comparison.labelled()
    lead, baseline = comparison.metrics[0], comparison.baseline
    winner = comparison.best(lead)
    rows = [
        RunRow(
            each.name,
            tuple(sorted(each.summaries, key=lambda summary: summary.measure != lead)),
            None if each.name == baseline else comparison.difference(baseline, each.name, lead),
            each.name == baseline,
            each.name == winner,
            medians_ms.get(each.name),
        )
        for each in runs
    ]
    return by_mean(rows, lower=lead in comparison.lower_is_better) if ranked else rows


def by_mean(rows: Sequence[RunRow], *, lower: bool) -> list[RunRow]:
    """Return the rows by their first mean, equals in their order, those without one last."""
    sign = 1.0 if lower else -1.0
    means = {row.run: row.summaries[0].mean for row in rows}
    return sorted(rows, key=lambda row: (isnan(means[row.run]), sign * means[row.run]))


def mean_rows(evaluation: Evaluation) -> Iterator[MeanRow]:
    """Yield the means of a run as it is shown, then those of its slices."""
    name = evaluation.name
    yield from _mean_rows(name, "", "", evaluation.summaries)
    for tag, values in evaluation.slices.items():
        for value, summaries in values.items():
            yield from _mean_rows(name, tag, value, summaries)


def _mean_rows(run: str, tag: str, value: str, summaries: Sequence[Summary]) -> Iterator[MeanRow]:
    for each in summaries:
        means = known(each.mean), *ends(each.interval), known(each.answered)
        yield MeanRow(run, tag, value, each.measure, *means, each.n)


def query_rows(evaluation: Evaluation) -> Iterator[QueryRow]:
    """Yield the queries of a run as it is shown."""
    table = evaluation.table
    columns = table.columns.values()
    for row, (query_id, status) in enumerate(zip(table.query_ids, table.statuses, strict=True)):
        scores = tuple(known(column[row]) for column in columns)
        yield QueryRow(evaluation.name, query_id, status.name.lower(), scores)


def difference_rows(contest: ComparisonResult) -> Iterator[DifferenceRow]:
    """Yield the differences over all queries, then those of each slice."""
    parts = [("", "", contest.comparison)]
    for tag, values in contest.slices.items():
        parts += [(tag, value, comparison) for value, comparison in values.items()]
    for tag, value, comparison in parts:
        for entry in comparison.differences:
            yield DifferenceRow(tag, value, entry)


def best_means(evaluations: Sequence[Evaluation], lower: Sequence[str]) -> Mapping[str, float]:
    """Return the best mean of each measure that any run has; *lower* names those to be small."""
    best: dict[str, float] = {}
    for evaluation in evaluations:
        for each in evaluation.summaries:
            better = min if each.measure in lower else max
            if not isnan(each.mean):
                best[each.measure] = better(each.mean, best.get(each.measure, each.mean))
    return best


def ends(interval: "Interval | None") -> tuple[float | None, float | None]:
    """Return the ends of an interval, None where there is none."""
    return (interval.low, interval.high) if interval else (None, None)
