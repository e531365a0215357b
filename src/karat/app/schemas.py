"""Results in the file formats of other benchmarks, with the measures that each needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from statistics import fmean, median, stdev

from karat.formats.akashic import QueryReport, Report
from karat.formats.octocode import OctocodeResults
from karat.formats.results import AgentResults, CaseResult, outcome_name
from karat.model import Dataset, Outcome, QueryStatus
from karat.model.evaluation import Evaluation, Summary
from karat.model.timings import RunResult
from karat.report.findings.latency import latencies_ms
from karat.scoring.metrics import parse
from karat.scoring.score import (
    cluster_labels,
    evaluate_run,
    slice_rows,
    with_intervals,
    with_measures,
)
from karat.scoring.settings import Confidence, Scoring

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
SET_F1 = "set-f1"
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class RunExport:
    """A run on its gold set, how it is judged, and when that was.

    *known* are the scores of the run as far as they were computed before.
    """

    gold: Dataset
    measured: RunResult
    timestamp: str
    scoring: Scoring = field(default_factory=Scoring)
    confidence: Confidence = field(default_factory=Confidence)
    known: Evaluation | None = None

    def named(self, measure: str) -> str:
        """Return *measure* as scores name it, with the lowest relevant grade if one is set."""
        return str(parse(measure, level=self.scoring.level))

    def evaluated(self, measures: Iterable[str], *, by: Sequence[str] = ()) -> Evaluation:
        """Return the scores by *measures*, whichever the settings name."""
        scoring = replace(self.scoring, measures=tuple(measures))
        parsed = scoring.parsed(self.gold)
        run, known = self.measured, self.known
        if known is None or not set(map(str, parsed)) <= known.table.columns.keys():
            known = evaluate_run(
                self.gold, run.run, scoring=scoring, confidence=None, slices={}, name=run.name
            )
        return with_intervals(
            with_measures(known, parsed),
            parsed,
            self.confidence,
            slices=slice_rows(self.gold, by),
            clusters=cluster_labels(self.gold, self.confidence.cluster),
        )

    def latencies_ms(self) -> list[float]:
        """Return the latency of each query, NaN where there is none."""
        return latencies_ms(self.measured, self.gold.query_ids)


def akashic_report(judged: RunExport) -> Report:
    """Return one configuration with its means, those of each category, and all queries."""
    gold = judged.gold
    by = (CATEGORY,) if CATEGORY in gold.tags else ()
    evaluation = judged.evaluated(AKASHIC_FIELDS.values(), by=by)
    names = {key: judged.named(measure) for key, measure in AKASHIC_FIELDS.items()}
    intervals = {summary.measure: _interval(summary) for summary in evaluation.summaries}
    times = judged.latencies_ms()
    run = judged.measured.run
    rows = {query_id: place for place, query_id in enumerate(run.query_ids)}
    results = []
    for row, query in enumerate(gold.queries()):
        place = rows.get(query.id)
        columns = evaluation.table.columns
        figures = {key: columns[name][row] for key, name in names.items()}
        results.append(
            QueryReport(
                query.id,
                query.text,
                query.tags.get(CATEGORY, ""),
                () if place is None else run.answer(place).hits,
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
            "avg_latency_ms": _mean(times),
            "avg_mrr_ci": intervals[names["mrr"]],
            "avg_ndcg_ci": intervals[names["ndcg_at_10"]],
        },
        category_metrics={
            value: {"count": found[0].n, **_means(names, found)}
            for value, found in evaluation.slices.get(CATEGORY, {}).items()
        },
        query_results=results,
    )


def agent_results(judged: RunExport) -> AgentResults:
    """Return one agent with the F1 of everything it returned, and its latencies."""
    gold, run = judged.gold, judged.measured.run
    evaluation = judged.evaluated((SET_F1,))
    scores = evaluation.table.columns[judged.named(SET_F1)]
    times = judged.latencies_ms()
    rows = {query_id: place for place, query_id in enumerate(run.query_ids)}
    cases = []
    for row, query in enumerate(gold.queries()):
        place = rows.get(query.id)
        answer = None if place is None else run.answer(place)
        outcome = answer.outcome if answer else Outcome.ERROR
        cases.append(
            CaseResult(
                query.id,
                list(dict.fromkeys(hit.path for hit in (answer.hits if answer else ()))),
                list(dict.fromkeys(target.path for target in query.targets if target.grade > 0)),
                _known(scores[row]),
                _known(times[row]),
                {"outcome": outcome_name(outcome)},
            )
        )
    return AgentResults(
        judged.measured.name,
        judged.timestamp,
        {**_spread([score for score in scores if not isnan(score)]), **_percentiles(times)},
        cases,
    )


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


def _spread(scores: Sequence[float]) -> dict[str, float | None]:
    """Return mean, median and the standard deviation of a sample, which is 0 for one score."""
    return {
        "mean_f1": _mean(scores),
        "median_f1": median(scores) if scores else None,
        "std_f1": stdev(scores) if len(scores) > 1 else 0.0 if scores else None,
    }


def _percentiles(times: Sequence[float]) -> dict[str, float | None]:
    from karat.scoring.stats import known_percentiles

    found = known_percentiles(times, PERCENTILES)
    names = (f"p{point}_latency_ms" for point in PERCENTILES)
    return dict(zip(names, found, strict=True))


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not isnan(value)]
    return fmean(known) if known else None


def _known(value: float) -> float | None:
    return None if isnan(value) else value
