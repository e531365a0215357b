"""Results: the scores of each run of a benchmark, over all queries and per query, and events."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from karat.extensions.service.schemas.base import NO_NUL, Answer, Commit, Id, Listing, Request
from karat.extensions.service.schemas.benchmarks import (
    BenchmarkStatus,
    RunConfig,
    RunStatus,
    TimingStatus,
)
from karat.extensions.service.schemas.datasets import NamedQuery


class Metrics(Answer):
    """Means over all queries; inner keys are the k. Null where k exceeds the run's top_k."""

    mrr: float | None
    ap: float | None
    precision: dict[str, float | None] = Field(examples=[{"10": 0.31}])
    recall: dict[str, float | None]
    ndcg: dict[str, float | None]


class Timing(Answer):
    """The duration of the phases of a run, in milliseconds."""

    indexing_ms: float | None
    evaluation_ms: float | None
    total_ms: float | None


class Latency(Answer):
    """Milliseconds of one query, by linear interpolation; null where there are too few samples.

    p90 needs 10 samples, p95 needs 20 and p99 needs 100. *disturbed* says that other karat runs
    worked, or may have worked, while latency was measured.
    """

    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    samples: int
    measured: bool
    disturbed: bool


class RunResult(Answer):
    """One run; *intervals* are 95 % intervals of the means in *metrics_flat*.

    *resolved_metrics_flat* leaves unresolved references out of the judgments; null where there are
    none. *fates* counts the relevant targets by loss reason at the primary k, by the names of
    ``loss_reasons``; it is empty before the benchmark has ended. *identical_to* names runs whose
    rankings are the same, hit for hit. The run is ``completed`` when all its queries are scored.
    *timing_status* tells whether its latency is measured: ``none`` is not wanted, ``pending`` waits
    or is being measured; ``failed`` and ``cancelled`` are measured when the benchmark is started
    again.
    """

    id: str
    run_order: int
    name: str
    config_hash: str
    config: RunConfig
    snapshot: str = Field(description="SHA-256 over all paths and contents that were searched")
    status: RunStatus
    error_message: str | None
    metrics: Metrics
    metrics_flat: dict[str, float | None] = Field(examples=[{"ndcg@10": 0.71}])
    resolved_metrics_flat: dict[str, float | None] | None
    intervals: dict[str, tuple[float, float]] = Field(examples=[{"ndcg@10": [0.64, 0.78]}])
    timing: Timing
    timing_status: TimingStatus
    latency: Latency
    answered: int
    errors: int
    timeouts: int
    invalid: int
    fates: dict[str, int] = Field(examples=[{"found": 61, "too low": 4, "fusion": 2}])
    warnings: list[str]
    identical_to: list[str]


class LossReason(Answer):
    """Why targets were lost: *name* is its key in ``fates``, *label* its words.

    *shade* is the name of its colour on the page.
    """

    name: str
    label: str
    definition: str
    shade: str


class Summary(Answer):
    """The outcome over all runs.

    *best_runs* are the best run and all runs that are not significantly worse. *headline* is the
    outcome in one sentence, *comparison* adds the numbers.
    """

    total_runs: int
    completed_runs: int
    failed_runs: int
    best_run: str | None
    best_primary_metric: float | None
    best_runs: list[str]
    headline: str | None
    comparison: str | None


class Results(Answer):
    """All runs of a benchmark, scored by the judgments of *judgments_version*."""

    benchmark_id: Id
    status: BenchmarkStatus
    primary_k: int
    primary_metric: str = Field(examples=["ndcg@10"])
    k_values_for_metrics: list[int]
    query_count: int
    judgments_version: int
    labels: dict[str, str] = Field(
        description="Measures as they were typed, by their canonical names",
        examples=[{"ap": "MAP", "ndcg@10": "nDCG@10"}],
    )
    lower_is_better: list[str] = Field(description="Measures for which lower is better")
    score_mark: str = Field(
        default="",
        description="Mark beside every score if scores use labels of models whose agreement with "
        "people is low or unknown; a warning in the details explains it",
        examples=["", "†"],
    )
    loss_reasons: list[LossReason] = Field(description="The keys of `fates` in each run, in order")
    runs: list[RunResult]
    summary: Summary
    total_runs: int


class QueryResult(NamedQuery):
    """The result of one query in one run, at the primary k."""

    retrieved_doc_ids: list[str]
    metrics: dict[str, float | None]
    precision_at_k: float | None
    recall_at_k: float | None
    reciprocal_rank: float | None
    ndcg_at_k: float | None
    search_time_ms: float | None
    rerank_time_ms: float | None


class QueryResults(Listing):
    """A page of the queries of one run."""

    run_id: str
    results: list[QueryResult]


class DrilldownTarget(Answer):
    """A relevant target: its rank in each run, and why it was lost below the primary k."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    grade: float
    found_at: dict[str, int | None]
    lost: dict[str, str]


class DrilldownHit(Answer):
    """A hit of one run; *grade* is null where nobody has judged it."""

    rank: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    score: float
    grade: float | None
    relevant: bool


class DrilldownRun(Answer):
    """The query result of one run; *retrieved* counts hits that are not listed, too."""

    run_id: str
    name: str
    status: Literal["scored", "missing", "error", "timeout", "unjudged"]
    error: str | None = Field(description="Why a query failed: status error or timeout")
    retrieved: int
    metrics: dict[str, float | None]
    hits: list[DrilldownHit]
    search_time_ms: float | None
    rerank_time_ms: float | None


class DrilldownQuery(NamedQuery):
    """The query itself."""

    tags: dict[str, str]


class Drilldown(Answer):
    """One query across all runs of a benchmark."""

    query: DrilldownQuery
    targets: list[DrilldownTarget]
    runs: list[DrilldownRun]


class Recommendation(Answer):
    """The run to take for one purpose, why, and how certain that is."""

    purpose: str
    run: str
    run_id: str
    why: str
    certainty: str


class Standing(Answer):
    """A run of the leaderboard; *better_than* has the letters of runs significantly worse.

    *difference* and *p* compare it with the first run; null for the first run itself.
    """

    run_id: str
    letter: str
    better_than: str
    difference: float | None
    p: float | None


class FirstRanks(Answer):
    """The number of queries by the rank of their first relevant hit, for each run id."""

    names: list[str]
    runs: dict[str, list[int]]


class LatencySteps(Answer):
    """The share of queries answered within a time."""

    run_id: str
    milliseconds: list[float]
    shares: list[float]


class TableColumn(Answer):
    """The heading of a column."""

    title: str
    numeric: bool


class TableCell(Answer):
    """A text with the value to sort by."""

    text: str
    value: float | str | None


class DetailTable(Answer):
    """A table of a report, such as latency or cost."""

    title: str
    columns: list[TableColumn]
    rows: list[list[TableCell]]
    notes: list[str]


class SectionBar(Answer):
    """A value of a chart, with its interval where it has one."""

    name: str
    value: float | None
    low: float | None
    high: float | None


class SectionChart(Answer):
    """Bars on one scale from 0; *what* is measured."""

    title: str
    what: str
    bars: list[SectionBar]
    notes: list[str]


class ReportSection(Answer):
    """A section that an extension adds to a report."""

    title: str
    tables: list[DetailTable]
    charts: list[SectionChart]


class MethodNote(Answer):
    """One setting or input that the results depend on."""

    name: str
    text: str


class Details(Answer):
    """What explains the results: warnings, advice, ranks, latency, cost and method.

    *pareto* names for each measure the runs that no other run beats in both quality and latency.
    *standings* compares each run with the run *baseline* on the measure *change_of*.
    """

    warnings: list[str]
    not_comparable: list[str]
    recommendations: list[Recommendation]
    insights: list[str]
    remarks: list[str]
    run_notes: dict[str, list[str]]
    standings: list[Standing]
    change_of: str
    baseline: str
    first_ranks: FirstRanks
    pareto: dict[str, list[str]]
    latency_steps: list[LatencySteps]
    tables: list[DetailTable]
    sections: list[ReportSection]
    method: list[MethodNote]


class MetricDefinition(Answer):
    """What a metric measures."""

    name: str
    aliases: list[str]
    definition: str
    formula: str
    higher_is_better: bool


class Definitions(Answer):
    """What each metric and each loss reason means."""

    metrics: list[MetricDefinition]
    loss_reasons: list[LossReason]


class Change(Answer):
    """How a run differs from an earlier one of the same name, on the queries of both.

    *against* says which one: the last that had ended before, or the one that is pinned. Both are
    judged by the judgments as they are now, on the first measure. *altered* names what is known to
    differ beside the hits; *text* says all in one sentence.
    """

    run_id: str
    run_name: str
    against: Literal["previous", "pinned"]
    earlier_run_id: str
    earlier_benchmark_id: Id
    earlier_benchmark_name: str
    ended_at: datetime
    metric: str
    queries: int
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    significant: bool
    unchanged: bool
    wins: int
    ties: int
    losses: int
    altered: list[str]
    text: str


class Changes(Answer):
    """The changes of the runs of a benchmark; a run without an earlier one has none."""

    changes: list[Change]


class TrendPoint(Answer):
    """One run in the course of time; *commit* is null where the documents are in no repository."""

    benchmark_id: Id
    benchmark_name: str
    run_id: str
    run_name: str
    created_at: datetime
    commit: Commit | None
    values: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]
    annotations: list[str]


class Trend(Answer):
    """All completed runs over one dataset, the oldest first.

    Where benchmarks spell a measure differently, *labels* has the spelling of the newest one.
    """

    dataset_id: Id
    labels: dict[str, str] = Field(
        description="Measures as they were typed, by their canonical names",
        examples=[{"ap": "MAP", "ndcg@10": "nDCG@10"}],
    )
    points: list[TrendPoint]


Key = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Grade = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Cut = Annotated[int, Field(ge=1, le=1000)]


class RankedItem(Request):
    """An item of a ranking; its place in the list is its rank, whatever the score."""

    key: Key | None = None
    id: Key | None = None
    score: Number | None = None


class Evaluate(Request):
    """A ranking, best first, with judgments of its items; a second ranking can be compared."""

    ranked_items: list[RankedItem] = Field(max_length=10_000)
    judgments: dict[Key, Grade] = Field(max_length=10_000)
    improved: list[RankedItem] | None = Field(
        default=None,
        max_length=10_000,
        description="Another ranking, to be compared with the first",
    )
    k_values: list[Cut] = Field(default=[1, 3, 5, 10], min_length=1, max_length=50)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ranked_items": [{"key": "a", "score": 0.9}, {"key": "b", "score": 0.7}],
                    "judgments": {"a": 0.5, "b": 1.0},
                    "k_values": [1, 3],
                }
            ]
        }
    )


class EvaluationScores(Answer):
    """The scores; those of *improved* with the change in percent, null from 0."""

    metrics: dict[str, float] = Field(examples=[{"ndcg@1": 0.5, "ndcg@3": 0.8597}])
    improved: dict[str, float] | None
    improvement: dict[str, float | None] | None


class ComparisonRun(Answer):
    """One run against the baseline, query by query; *p_corrected* accounts for all runs tested.

    *low* and *high* bound the difference; *effect* is the standardised one.
    """

    run_id: str
    name: str
    mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    effect: float | None
    improved: int
    regressed: int
    tied: int
    verdict: Literal["better", "worse", "no difference shown", "baseline"]


class Comparison(Answer):
    """All runs against one of them; *headline* is the outcome in one sentence."""

    baseline: str
    metric: str
    runs: list[ComparisonRun]
    headline: str
    verdict: str


class ScoreMatrix(Answer):
    """Scores of all queries (rows) in all runs (columns); null where there is none.

    *texts* are the texts of the queries, *tags* their values of each tag.
    """

    metric: str
    queries: list[str]
    texts: list[str]
    tags: dict[str, list[str]]
    runs: list[str]
    values: list[list[float | None]]


class Slice(Answer):
    """The queries with one value of a tag."""

    value: str
    queries: int
    means: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]


class Slices(Answer):
    """Means of each run (by its id) over slices of the queries; *tags* lists what *by* may be."""

    metric: str
    by: str
    tags: list[str]
    slices: list[Slice]


class Curve(Answer):
    """One measure of one run against k; null beyond the run's top_k."""

    run_id: str
    name: str
    measure: str
    k: list[int]
    values: list[float | None]


class Curves(Answer):
    """Measures against k, for every run."""

    curves: list[Curve]


class Side(Answer):
    """One side of a comparison of two benchmarks or runs."""

    benchmark_id: Id
    benchmark_name: str
    run_id: str
    run_name: str
    mean: float | None


class TwoSides(Answer):
    """Two runs, perhaps of two benchmarks, on the queries that both have answered.

    Where they are not *comparable*, *why* says what differs: dataset, judgments or documents.
    *label* is the metric as it was typed for the left benchmark.
    """

    metric: str
    label: str
    left: Side
    right: Side
    comparable: bool
    why: str | None
    queries: int
    comparison: ComparisonRun
    headline: str
    verdict: str


class RunningProcess(Answer):
    """Another process of Karat on the machine: the command that it runs, and since when."""

    pid: int
    command: str
    since: datetime


class RunProgress(Answer):
    """A run, and how many of its queries are answered."""

    run_id: str
    run_order: int
    config: RunConfig
    config_summary: str
    total_queries: int
    completed_queries: int


class CurrentRun(RunProgress):
    """The run in progress.

    ``waiting`` lasts until no other karat run is active on the machine, so that latency is not
    distorted; *waiting_for* lists these runs, as far as they are known.
    """

    stage: Literal["pending", "waiting", "indexing", "evaluating", "timing"]
    waiting_for: list[RunningProcess]


class CompletedRun(RunProgress):
    """The run that was scored last, or whose latency was measured last, with its scores."""

    stage: Literal["completed", "failed", "cancelled"]
    metrics: Metrics | None
    metrics_flat: dict[str, float | None] | None
    timing: Timing | None
    timing_status: TimingStatus


class BenchmarkProgress(Answer):
    """The progress of a benchmark; *stage* is that of its current run, or the end of the last one.

    ``comparing`` comes when all runs have their scores, before latency is measured; ``explaining``
    comes after that, while loss reasons are computed.
    """

    benchmark_id: Id
    status: BenchmarkStatus
    # Events of earlier versions, which are stored for 30 days, have none.
    error_message: str | None = None
    total_runs: int
    completed_runs: int
    failed_runs: int
    stage: str
    current_run: CurrentRun | None
    last_completed_run: CompletedRun | None


class JobProgress(Answer):
    """The progress of indexing a collection, of resolving a mapping, or of an extension's job."""

    subject_id: Id
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    stage: str
    done: int
    total: int
    error_message: str | None


class Event(Answer):
    """One event; its sequence number is the ``id:`` of the server-sent event."""

    timestamp: datetime
    type: Literal[
        "benchmark_progress", "collection_progress", "mapping_progress", "operation_progress"
    ]
    data: BenchmarkProgress | JobProgress
