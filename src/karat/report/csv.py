"""Results as CSV, with guards against spreadsheet formulas."""

from collections.abc import Iterable, Sequence

from karat.formats.records import render_rows
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.rows import Result, difference_rows, ends, mean_rows, query_rows

Row = Sequence[str | float | None]


def result_csv(result: Result) -> str:
    """Return one row per measure, of a comparison per pair too, and per tag value of slices."""
    return _evaluation(result) if isinstance(result, Evaluation) else _contest(result)


def _evaluation(evaluation: Evaluation) -> str:
    header = ("run", "tag", "value", "measure", "mean", "low", "high", "answered_mean", "n")
    return render_rows([header, *mean_rows(evaluation.reportable())])


def _contest(contest: ComparisonResult) -> str:
    rows: list[Row] = [
        (
            *("tag", "value", "measure", "baseline", "run", "n", "baseline_mean", "run_mean"),
            *("difference", "low", "high", "relative", "p", "p_corrected", "effect"),
            *("wins", "ties", "losses", "detectable", "significant"),
        )
    ]
    rows += [
        (
            *(tag, value, entry.metric, entry.baseline, entry.system, entry.n),
            *(entry.baseline_mean, entry.system_mean, entry.difference),
            *ends(entry.interval),
            *(entry.relative, entry.p, entry.p_corrected, entry.effect),
            *(entry.wins, entry.ties, entry.losses, entry.detectable),
            "yes" if entry.is_significant else "no",
        )
        for tag, value, entry in difference_rows(contest)
    ]
    return render_rows(rows)


def queries_csv(evaluations: Iterable[Evaluation]) -> str:
    """Return one row per run and query, one column per measure."""
    rows: list[Row] = []
    for evaluation in evaluations:
        reportable = evaluation.reportable()
        if not rows:
            rows.append(("run", "query", "status", *reportable.table.columns))
        rows += [
            (each.run, each.query, each.status, *each.scores) for each in query_rows(reportable)
        ]
    return render_rows(rows)
