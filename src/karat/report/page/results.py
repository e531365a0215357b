"""Documents on all runs: their means with intervals, and the details that explain them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan

from karat.model import Outcome
from karat.model.evaluation import Notes, Summary
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.insights import insights
from karat.report.findings.latency import (
    ecdf,
    latencies_ms,
    latency_table,
    phase_tables,
    spent_tables,
)
from karat.report.findings.leaderboard import (
    beaten_text,
    best_first,
    pareto,
    standings,
)
from karat.report.findings.loss_reasons import (
    first_ranks,
    listed_reasons,
    loss_reason_counts,
    loss_text,
)
from karat.report.findings.method import differences, method_rows, shallow
from karat.report.findings.recommend import headline_with_broken, recommendations
from karat.report.page.queries import Document, RunState, Subject
from karat.report.score_view import invalid_text, note_lines, odd_answers
from karat.report.section import section_document, sections
from karat.report.table import Table, known, mark_of, marked_text, table_document
from karat.scoring.loss_reasons import LOSS_REASONS
from karat.scoring.metrics import METRICS, Measure
from karat.scoring.stats import known_percentiles

NOT_MEASURED: Document = {
    **dict.fromkeys(("p50", "p90", "p95", "p99")),
    "samples": 0,
    "measured": False,
    "disturbed": False,
}
# More steps than these cannot be seen in a chart.
MOST_STEPS = 200


def results(subject: Subject) -> Document:
    """Return all runs with intervals, latencies, loss reasons, and the outcome in words."""
    findings = subject.findings
    kinds = listed_reasons(findings)
    texts = [LOSS_REASONS[kind] for kind in kinds]
    lost = [
        {LOSS_REASONS[kind].name: row.counts[kind] for kind in kinds}
        for row in loss_reason_counts(findings)
    ]
    completed = [
        {**_scored_run(subject, index), "fates": lost[index]} for index in range(len(lost))
    ]
    others = [_plain_run(state, ()) for state in subject.unscored]
    runs = sorted([*completed, *others], key=lambda run: int(run["run_order"]))
    contest, mark = findings.contest, findings.contest.mark
    outcome = headline_with_broken(contest.comparison.labelled(), contest.evaluations)
    evaluation = findings.contest.evaluations[0]
    lead = mark_of(mark, findings.lead)
    best = [subject.runs[index].id for index in best_first(findings)]
    means = {run["id"]: run["metrics_flat"].get(subject.primary_metric) for run in completed}
    scored = [run for run in best if means[run] is not None]
    failed = sum(state.status == "failed" for state in subject.unscored)
    return {
        **_frame(subject.id, subject.status, subject.primary_metric, subject.primary_k),
        "k_values_for_metrics": list(subject.cuts),
        "query_count": len(findings.gold),
        "judgments_version": subject.version,
        "labels": {name: evaluation.label(name) for name in subject.measures},
        "lower_is_better": [
            name
            for name in subject.measures
            if not findings.measure(name).definition.higher_is_better
        ],
        "score_mark": mark,
        "loss_reasons": [
            {
                "name": words.name,
                "label": words.label,
                "definition": loss_text(kind, findings),
                "shade": words.shade,
            }
            for kind, words in zip(kinds, texts, strict=True)
        ],
        "runs": runs,
        "summary": {
            "total_runs": len(runs),
            "completed_runs": len(completed),
            "failed_runs": failed,
            "best_run": scored[0] if scored else None,
            "best_primary_metric": means[scored[0]] if scored else None,
            "best_runs": _unbeaten(subject),
            "headline": marked_text(outcome, lead) or None,
            "comparison": marked_text(findings.contest.verdict, lead) or None,
        },
        "total_runs": len(runs),
    }


def plain_results(
    runs: Sequence[tuple[RunState, Sequence[Summary]]],
    *,
    frame: tuple[str, str, str, int],
    cuts: Sequence[int],
    labels: Mapping[str, str],
    queries: int,
    counts: tuple[int, int, int],
) -> Document:
    """Return what is stored of each run: means, without anything that takes time to compute.

    Latency is being measured while a benchmark runs, and statistics would disturb it. *frame* is
    the id, the status, the primary metric and the primary k; *labels* are the measures as they were
    typed, by their canonical names; *counts* are total, completed and failed runs.
    """
    documents = [_plain_run(state, scores) for state, scores in runs]
    means = {run["id"]: run["metrics_flat"].get(frame[2]) for run in documents}
    scored = {run: mean for run, mean in means.items() if mean is not None}
    best = max(scored, key=scored.__getitem__, default=None)
    total, completed, failed = counts
    return {
        **_frame(*frame),
        "k_values_for_metrics": list(cuts),
        "query_count": queries,
        "judgments_version": 1,
        "labels": dict(labels),
        "lower_is_better": [],
        "score_mark": "",
        "loss_reasons": [],
        "runs": documents,
        "summary": {
            "total_runs": total,
            "completed_runs": completed,
            "failed_runs": failed,
            "best_run": best,
            "best_primary_metric": scored[best] if best else None,
            "best_runs": [],
            "headline": None,
            "comparison": None,
        },
        "total_runs": total,
    }


def details(subject: Subject) -> Document:
    """Return what explains the results: warnings, advice, ranks, latency, cost and method."""
    findings = subject.findings.labelled()
    ids = dict(zip(findings.names, (run.id for run in subject.runs), strict=True))
    rank_names, first = first_ranks(findings)
    return {
        "warnings": list(findings.contest.warnings),
        "not_comparable": list(differences(findings)),
        "recommendations": [
            {**advice._asdict(), "run_id": ids[advice.run]} for advice in recommendations(findings)
        ],
        "insights": [*findings.contest.notes, *insights(findings)],
        "remarks": [*shallow(findings), *findings.remarks],
        "run_notes": {
            ids[each.name]: list(note_lines(each)) for each in findings.contest.evaluations
        },
        "standings": [
            {
                "run_id": ids[row.name],
                "letter": row.letter,
                "better_than": beaten_text(row),
                "difference": row.change and row.change.difference,
                "p": row.change and row.change.p_corrected,
            }
            for row in standings(findings)
        ],
        "change_of": subject.findings.change_of,
        "baseline": ids[findings.baseline],
        "first_ranks": {
            "names": list(rank_names),
            "runs": {ids[row.run]: list(row.counts) for row in first},
        },
        "pareto": {
            metric: [
                ids[point.name] for point in pareto(subject.findings, metric) if point.on_front
            ]
            for metric in subject.findings.contest.comparison.metrics
        },
        "latency_steps": [
            {"run_id": ids[row.run], **_steps(row.milliseconds, row.shares)}
            for row in ecdf(findings)
        ],
        "tables": [table_document(table) for table in _costs(findings)],
        "sections": [section_document(section) for section in sections(findings)],
        "method": [{"name": name, "text": text} for name, text in method_rows(findings)],
    }


def flat_metrics(summaries: Iterable[Summary]) -> dict[str, float | None]:
    """Return the mean of each measure by its name."""
    return {summary.measure: known(summary.mean) for summary in summaries}


def intervals_of(summaries: Iterable[Summary]) -> dict[str, list[float]]:
    """Return the intervals that there are, by the name of their measure."""
    intervals = {}
    for summary in summaries:
        interval = summary.interval
        if interval and interval.low is not None and interval.high is not None:
            intervals[summary.measure] = [interval.low, interval.high]
    return intervals


def metrics_of(flat: Mapping[str, float | None]) -> Document:
    """Return the means by metric and cut-off; one that was not computed is left out."""
    at_k: dict[str, dict[str, float | None]] = {"precision": {}, "recall": {}, "ndcg": {}}
    cuts = sorted(
        (int(cut), metric, value)
        for name, value in flat.items()
        for metric, _, cut in [name.partition("@")]
        if metric in at_k and cut.isdecimal()
    )
    for cut, metric, value in cuts:
        at_k[metric][str(cut)] = value
    return {"mrr": flat.get("mrr"), "ap": flat.get("ap"), **at_k}


def _frame(id_: str, status: str, primary_metric: str, primary_k: int) -> Document:
    return {
        "benchmark_id": id_,
        "status": status,
        "primary_k": primary_k,
        "primary_metric": primary_metric,
    }


def _plain_run(state: RunState, scores: Sequence[Summary]) -> Document:
    flat = flat_metrics(scores)
    return {
        **asdict(state),
        "metrics": metrics_of(flat),
        "metrics_flat": flat,
        "resolved_metrics_flat": None,
        "intervals": intervals_of(scores),
        "latency": NOT_MEASURED,
        "invalid": 0,
        "fates": {},
        "warnings": [],
        "identical_to": [],
    }


def _scored_run(subject: Subject, index: int) -> Document:
    findings, run = subject.findings, subject.runs[index]
    measured, evaluation = findings.runs[index], findings.contest.evaluations[index]
    outcomes = list(measured.run.outcomes)
    rankings = findings.rankings
    warnings = list(evaluation.run_warnings)
    broken = {"error_message": warnings.pop(0)} if evaluation.broken else {}
    return {
        **_plain_run(run, findings.summaries(index)),
        **broken,
        "answered": outcomes.count(Outcome.ANSWERED),
        "errors": outcomes.count(Outcome.ERROR),
        "timeouts": outcomes.count(Outcome.TIMEOUT),
        "resolved_metrics_flat": _resolved(subject, index),
        "latency": _latency(measured, findings.gold.query_ids),
        "invalid": sum(evaluation.notes.invalid.values()),
        "warnings": [
            *warnings,
            *findings.run_remarks[index],
            *_odd(measured, evaluation.notes),
        ],
        "identical_to": [
            other.id
            for other, ranking in zip(subject.runs, rankings, strict=True)
            if other is not run and ranking == rankings[index]
        ],
    }


def _resolved(subject: Subject, index: int) -> dict[str, float | None] | None:
    """Return the means without targets that name no document, None where all do."""
    if subject.resolved is not None:
        return flat_metrics(subject.resolved[index].summaries)
    if subject.findings.resolved is None:
        return None
    comparison, name = subject.findings.resolved.comparison, subject.findings.names[index]
    return {metric: comparison.mean(name, metric).mean for metric in comparison.metrics}


def _unbeaten(subject: Subject) -> list[str]:
    """Return the runs that no other run is significantly better than, the best first."""
    findings = subject.findings
    comparison, lead = findings.contest.comparison, findings.lead
    beaten = {
        entry.baseline if comparison.winner(entry) == entry.system else entry.system
        for entry in comparison.differences
        if entry.metric == lead and entry.is_significant
    }
    names = findings.names
    return [
        subject.runs[index].id
        for index in best_first(findings)
        if names[index] not in beaten and comparison.mean(names[index], lead).mean is not None
    ]


def _odd(measured: RunResult, notes: Notes) -> Iterator[str]:
    """Yield why hits of a run are left out, and which queries are answered differently."""
    if notes.invalid:
        yield f"{measured.name}: {invalid_text(notes)}"
    yield from odd_answers(measured)


def _latency(measured: RunResult, query_ids: Sequence[str]) -> Document:
    times = [time for time in latencies_ms(measured, query_ids) if not isnan(time)]
    if not times:
        return NOT_MEASURED
    points = ("p50", "p90", "p95", "p99")
    return {
        **dict(zip(points, known_percentiles(times, (50, 90, 95, 99)), strict=True)),
        "samples": len(times),
        "measured": True,
        "disturbed": measured.timings is not None and not measured.timings.alone,
    }


def _costs(findings: Findings) -> Iterator[Table]:
    if findings.latency is not None:
        yield latency_table(findings)
    yield from spent_tables(findings.runs)
    yield from phase_tables(findings.runs)


def _steps(times: Sequence[float], shares: Sequence[float]) -> Document:
    """Return a distribution with at most as many steps as a chart can show."""
    every = max(len(times) // MOST_STEPS, 1)
    return {
        "milliseconds": [*times[::every], times[-1]],
        "shares": [*shares[::every], 1.0],
    }


def definitions(measures: Iterable[Measure] = ()) -> Document:
    """Return what each metric and each loss reason means; *measures* are those of a score file."""
    metrics = {each.metric: each.definition for each in measures}
    return {
        "metrics": [
            {
                "name": name,
                "aliases": [] if metrics else list(METRICS.aliases(name)),
                "definition": metric.definition,
                "formula": metric.formula,
                "higher_is_better": metric.higher_is_better,
            }
            for name, metric in (metrics or {name: METRICS.get(name) for name in METRICS}).items()
        ],
        "loss_reasons": [
            {
                "name": words.name,
                "label": words.label,
                "definition": words.text.format(k="k", depth="the depth of the run"),
                "shade": words.shade,
            }
            for words in LOSS_REASONS.values()
        ],
    }
