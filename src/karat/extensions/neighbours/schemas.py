"""Results in the file formats of Akashic and Octocode, with the measures that each needs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.app.schemas import ResultSchema, RunExport, known_mean
from karat.formats.jsontext import finite, write_json
from karat.model import Hit, QueryStatus
from karat.model.evaluation import Evaluation, Summary
from karat.model.timings import RunResult

Values = Mapping[str, object]
CATEGORY = "category"
# The fields of each shape, and the measures that they hold.
AKASHIC_FIELDS = {
    "mrr": "mrr",
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
    "ndcg_at_10": "ndcg@10",
}
OCTOCODE_FIELDS = {
    "hit_at_5": "hit@5",
    "hit_at_10": "hit@10",
    "mrr": "mrr",
    "ndcg_at_10": "ndcg@10",
    "recall_at_5": "recall@5",
    "recall_at_10": "recall@10",
}


class QueryReport(NamedTuple):
    """One query with its hits, its expectation and its own figures."""

    query_id: str
    query: str
    category: str
    hits: Sequence[Hit]
    expected_files: Sequence[str]
    expected_symbols: Sequence[str]
    metrics: Values


class Report(NamedTuple):
    """One configuration; *summary* has ``total_queries``, ``avg_mrr``, ``avg_mrr_ci``, ..."""

    config: Values
    timestamp: str
    summary: Values
    category_metrics: Mapping[str, Values]
    query_results: Sequence[QueryReport]


def akashic_report(judged: RunExport) -> Report:
    """Return one configuration with its means, those of each category, and all queries."""
    gold = judged.gold
    by = (CATEGORY,) if CATEGORY in gold.tags else ()
    evaluation = judged.evaluated(AKASHIC_FIELDS.values(), by=by)
    names = {key: judged.named(measure) for key, measure in AKASHIC_FIELDS.items()}
    intervals = {summary.measure: _interval(summary) for summary in evaluation.summaries}
    times = judged.latencies_ms()
    run = judged.measured.run
    answer_rows = {query_id: row for row, query_id in enumerate(run.query_ids)}
    results = []
    for row, query in enumerate(gold.queries()):
        answer_row = answer_rows.get(query.id)
        columns = evaluation.table.columns
        figures = {key: columns[name][row] for key, name in names.items()}
        results.append(
            QueryReport(
                query.id,
                query.text,
                query.tags.get(CATEGORY, ""),
                () if answer_row is None else run.answer(answer_row).hits,
                [target.path for target in query.targets if target.path],
                [target.symbol for target in query.targets if target.symbol],
                {**figures, "latency_ms": times[row]},
            )
        )
    return Report(
        config={"name": judged.measured.name, **_options(judged.measured)},
        timestamp=judged.timestamp,
        summary={
            "total_queries": len(gold),
            **_means(names, evaluation.summaries),
            "avg_latency_ms": known_mean(times),
            "avg_mrr_ci": intervals[names["mrr"]],
            "avg_ndcg_ci": intervals[names["ndcg_at_10"]],
        },
        category_metrics={
            value: {"count": summaries[0].n, **_means(names, summaries)}
            for value, summaries in evaluation.slices.get(CATEGORY, {}).items()
        },
        query_results=results,
    )


def _options(measured: RunResult) -> Mapping[str, object]:
    """Return what the configuration was made of, as far as the run records it."""
    options = measured.run.metadata.get("options")
    engine = measured.run.metadata.get("engine")
    return {
        **(options if isinstance(options, Mapping) else {}),
        **({"engine": engine} if engine else {}),
    }


def _means(names: Mapping[str, str], summaries: Sequence[Summary]) -> dict[str, float]:
    means = {summary.measure: summary.mean for summary in summaries}
    return {f"avg_{key}": means[name] for key, name in names.items()}


def _interval(summary: Summary) -> list[float | None] | None:
    interval = summary.interval
    return [interval.low, interval.high] if interval else None


def write_report(report: Report, path: Path) -> None:
    """Write *report*; a number that is not finite becomes null."""
    write_json(path, finite(_report_value(report)))


def write_comparison(reports: Sequence[Report], path: Path, *, timestamp: str) -> None:
    """Write several reports side by side."""
    values = [_report_value(report) for report in reports]
    value = {"timestamp": timestamp, "num_configs": len(values), "reports": values}
    write_json(path, finite(value))


def _report_value(report: Report) -> dict[str, object]:
    results = []
    for query in report.query_results:
        row = query._asdict()
        hits = row.pop("hits")
        row["results"] = [
            {
                "file_path": hit.path,
                "symbol_name": hit.symbol or None,
                "score": hit.score,
                "rank": rank,
            }
            for rank, hit in enumerate(hits, 1)
        ]
        results.append(row)
    return report._asdict() | {"query_results": results}


def _write_akashic(judged: Sequence[RunExport], path: Path) -> None:
    reports = [akashic_report(each) for each in judged]
    if len(reports) == 1:
        write_report(reports[0], path)
    else:
        write_comparison(reports, path, timestamp=reports[0].timestamp)


AKASHIC = ResultSchema((".json",), _write_akashic, holds_several=True)


class OctocodeResults(NamedTuple):
    """The averages of one run; None where a value could not be computed."""

    queries: int
    errors: int
    hit_at_5: float | None
    hit_at_10: float | None
    mrr: float | None
    ndcg_at_10: float | None
    recall_at_5: float | None
    recall_at_10: float | None


def write_octocode_results(results: OctocodeResults, path: Path) -> None:
    """Write *results*; a number that is not finite becomes null."""
    write_json(path, finite(results._asdict()))


def octocode_results(judged: RunExport) -> OctocodeResults:
    """Return the averages that octocode's own script writes."""
    names = {key: judged.named(measure) for key, measure in OCTOCODE_FIELDS.items()}
    return octocode_averages(judged.evaluated(OCTOCODE_FIELDS.values()), names)


def octocode_averages(
    evaluation: Evaluation, names: Mapping[str, str] = OCTOCODE_FIELDS
) -> OctocodeResults:
    """Return the means of *evaluation* under octocode's names; one that is not there is None."""
    means = {summary.measure: summary.mean for summary in evaluation.summaries}
    statuses = evaluation.notes.statuses
    return OctocodeResults(
        queries=evaluation.notes.queries - statuses[QueryStatus.UNJUDGED],
        errors=statuses[QueryStatus.ERROR] + statuses[QueryStatus.TIMEOUT],
        **{key: means.get(name) for key, name in names.items()},
    )


def _write_octocode(judged: Sequence[RunExport], path: Path) -> None:
    (run,) = judged
    write_octocode_results(octocode_results(run), path)


OCTOCODE = ResultSchema((".json",), _write_octocode)
