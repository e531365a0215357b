"""Results as CSV, with guards against spreadsheet formulas."""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan

from karat.formats.records import render_rows
from karat.model.comparison import Interval
from karat.model.evaluation import ComparisonResult, Evaluation, Summary

Row = Sequence[str | float | None]


def evaluation_csv(evaluation: Evaluation) -> str:
    """Return one row per measure, and per tag value if slices were requested."""
    header = ("run", "tag", "value", "measure", "mean", "low", "high", "answered_mean", "n")
    rows: list[Row] = [header]
    evaluation = evaluation.shown()
    rows += _summary_rows(evaluation.name, "", "", evaluation.summaries)
    for tag, values in evaluation.slices.items():
        for value, summaries in values.items():
            rows += _summary_rows(evaluation.name, tag, value, summaries)
    return render_rows(rows)


def contest_csv(contest: ComparisonResult) -> str:
    """Return one row per measure and pair, and per tag value if slices were requested."""
    rows: list[Row] = [
        (
            *("tag", "value", "measure", "baseline", "run", "n", "baseline_mean", "run_mean"),
            *("difference", "low", "high", "relative", "p", "p_corrected", "effect"),
            *("wins", "ties", "losses", "detectable", "significant"),
        )
    ]
    parts = [("", "", contest.comparison)]
    for tag, values in contest.slices.items():
        parts += [(tag, value, comparison) for value, comparison in values.items()]
    for tag, value, comparison in parts:
        rows += [
            (
                *(tag, value, entry.metric, entry.baseline, entry.system, entry.n),
                *(entry.baseline_mean, entry.system_mean, entry.difference),
                *_ends(entry.interval),
                *(entry.relative, entry.p, entry.p_corrected, entry.effect),
                *(entry.wins, entry.ties, entry.losses, entry.detectable),
                "yes" if entry.is_significant else "no",
            )
            for entry in comparison.differences
        ]
    return render_rows(rows)


def queries_csv(evaluations: Iterable[Evaluation]) -> str:
    """Return one row per run and query, one column per measure."""
    rows: list[Row] = []
    for evaluation in evaluations:
        table = evaluation.shown().table
        if not rows:
            rows.append(("run", "query", "status", *table.columns))
        rows += [
            (
                evaluation.name,
                query_id,
                table.statuses[row].name.lower(),
                *(_known(column[row]) for column in table.columns.values()),
            )
            for row, query_id in enumerate(table.query_ids)
        ]
    return render_rows(rows)


def _summary_rows(run: str, tag: str, value: str, summaries: Sequence[Summary]) -> Iterator[Row]:
    for summary in summaries:
        low, high = _ends(summary.interval)
        means = _known(summary.mean), low, high, _known(summary.answered)
        yield (run, tag, value, summary.measure, *means, summary.n)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _known(value: float) -> float | None:
    return None if isnan(value) else value
