"""The subject of a page, and the documents on single queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from karat.errors import Conflict, InputError, UnknownName
from karat.installation import without_checkout
from karat.model import Outcome, ScoreTable
from karat.model.evaluation import Evaluation
from karat.model.timings import NS_PER_MS, LatencySample, RunResult, latency_ms
from karat.report.findings import Findings
from karat.report.findings.latency import latencies_ms
from karat.report.findings.loss_reasons import loss_reason_of
from karat.report.table import known
from karat.scoring.loss_reasons import LOSS_REASONS
from karat.scoring.metrics import Measure

Document = dict[str, Any]

# Options that a run has only where its matrix sets them.
TUNED_OPTIONS = ("fusion", "dense_weight", "k1", "b", "code_ranking", "rerank_depth")
# Characters of an error that are shown; adapters cut the output of an engine earlier.
MOST_ERROR = 4_000
RERANKING = "rerank"


@dataclass(frozen=True, slots=True)
class RunState:
    """One run as its source describes it; *timing* and *config* are JSON objects."""

    id: str
    run_order: int
    name: str
    config_hash: str
    config: Mapping[str, object]
    snapshot: str
    status: str
    error_message: str | None
    timing: Mapping[str, float | None]
    timing_status: str
    answered: int = 0
    errors: int = 0
    timeouts: int = 0


@dataclass(frozen=True, eq=False)
class Subject:
    """A benchmark, or a report on runs, as a page shows it.

    *runs* have the order of *findings*; *unscored* are runs that failed or have not ended. *cuts*
    are the values of k. *resolved* scores the runs without references that name no document, None
    where there are none. *version* is that of the judgments; *dataset* is what makes two subjects
    comparable.
    """

    id: str
    name: str
    findings: Findings
    runs: tuple[RunState, ...]
    primary_metric: str
    primary_k: int
    cuts: tuple[int, ...]
    status: str = "completed"
    dataset: str = ""
    version: int = 1
    unscored: tuple[RunState, ...] = ()
    resolved: tuple[Evaluation, ...] | None = None

    def index_of(self, run: str) -> int:
        """Return the index of *run* in the findings.

        Conflict where it has no results, UnknownName where there is no such run.
        """
        for index, each in enumerate(self.runs):
            if each.id == run:
                return index
        if all(each.id != run for each in self.unscored):
            raise UnknownName(f"benchmark {self.id} has no run {run}")
        raise Conflict(f"run {run} is not completed, and has no results")

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the measures that were computed, the primary one first."""
        return tuple(self.findings.contest.evaluations[0].table.columns)

    def measure(self, name: str | None) -> Measure:
        """Return the measure of a *name*, by default the primary one; its label is that of scores.

        InputError where it was not computed.
        """
        try:
            measure = self.findings.measure(name or self.primary_metric)
        except UnknownName as error:
            raise InputError(str(error)) from error
        computed = {key: key for key in map(self.findings.measure, self.measures)}
        if measure not in computed:
            raise InputError(f"{measure} was not computed; computed: {', '.join(self.measures)}")
        return computed[measure]

    @cached_property
    def samples(self) -> list[dict[str, LatencySample]]:
        """Return the latency samples of each run by the id of the query."""
        timings = [measured.timings for measured in self.findings.runs]
        return [
            {sample.query_id: sample for sample in (each.samples if each else ())}
            for each in timings
        ]

    def error(self, index: int, query: str) -> str:
        """Return why the run at *index* has no hits for a failed *query*, "" where it did not fail.

        A long text is cut.
        """
        run, row = self.findings.runs[index].run, self._row_of_query[index].get(query)
        if row is None or run.outcomes[row] == Outcome.ANSWERED:
            return ""
        return without_checkout(str(run.extras[row].get("error") or ""))[:MOST_ERROR]

    @cached_property
    def _row_of_query(self) -> list[dict[str, int]]:
        """Return the row of each query id in each run."""
        runs = [measured.run for measured in self.findings.runs]
        return [{query_id: row for row, query_id in enumerate(run.query_ids)} for run in runs]

    def table(self, index: int) -> ScoreTable:
        """Return the scores of the run at *index*."""
        return self.findings.contest.evaluations[index].table


def subject_of(findings: Findings) -> Subject:
    """Return the subject of a report on runs without a service."""
    origin = findings.origin
    content = (findings.heading, origin.gold_digest, *origin.run_digests, *findings.names)
    cuts = {findings.measure(name).k for name in findings.contest.evaluations[0].table.columns}
    return Subject(
        id=str(uuid5(NAMESPACE_URL, "\n".join(content))),
        name=findings.heading,
        findings=findings,
        runs=tuple(
            _state(findings, index, measured) for index, measured in enumerate(findings.runs)
        ),
        primary_metric=findings.lead,
        primary_k=findings.k,
        cuts=tuple(sorted(k for k in cuts if k)),
    )


def _state(findings: Findings, index: int, measured: RunResult) -> RunState:
    metadata, timings = measured.run.metadata, measured.timings
    options = metadata.get("options")
    said = options if isinstance(options, Mapping) else {}
    timed = not all(map(isnan, latencies_ms(measured, findings.gold.query_ids)))
    outcomes = list(measured.run.outcomes)
    records = findings.origin.records
    return RunState(
        id=f"run.{index + 1}",
        run_order=index + 1,
        name=findings.names[index],
        config_hash=measured.engine,
        config={
            "search_mode": said.get("search_mode"),
            "engine": str(said.get("engine") or measured.name),
            "use_reranker": bool(said.get("use_reranker", False)),
            "top_k": metadata.get("k") or 0,
            "rrf_k": said.get("rrf_k"),
            "score_threshold": said.get("score_threshold"),
            **{name: said.get(name) for name in TUNED_OPTIONS},
        },
        snapshot=str(records[index].get("snapshot", "")) if records else "",
        status="completed",
        error_message=None,
        timing={
            "indexing_ms": timings.index_ns / NS_PER_MS if timings else None,
            "evaluation_ms": None,
            "total_ms": None,
        },
        timing_status="done" if timed else "none",
        answered=outcomes.count(Outcome.ANSWERED),
        errors=outcomes.count(Outcome.ERROR),
        timeouts=outcomes.count(Outcome.TIMEOUT),
    )


def query_results(
    subject: Subject, run: str, *, page: int, per_page: int, hits: int | None = None
) -> Document:
    """Return one page of the query results of a run, at the primary cut-off.

    *hits* cuts the documents that are listed by id.
    """
    index = subject.index_of(run)
    findings, k = subject.findings, subject.primary_k
    table = subject.table(index)
    answers = findings.runs[index].run
    row_of = {query_id: row for row, query_id in enumerate(answers.query_ids)}
    samples = subject.samples[index]

    def score(measure: str, row: int) -> float | None:
        column = table.columns.get(measure)
        return None if column is None else known(column[row])

    results = []
    for row in range(len(findings.gold))[(page - 1) * per_page : page * per_page]:
        query_id = findings.gold.query_ids[row]
        returned = (
            () if hits == 0 or query_id not in row_of else answers.answer(row_of[query_id]).hits
        )
        results.append(
            {
                "query_id": query_id,
                "query_key": query_id,
                "query_text": findings.gold.texts[row],
                "retrieved_doc_ids": list(dict.fromkeys(hit.path for hit in returned))[:hits],
                "metrics": {name: known(column[row]) for name, column in table.columns.items()},
                "precision_at_k": score(f"precision@{k}", row),
                "recall_at_k": score(f"recall@{k}", row),
                "reciprocal_rank": score("mrr", row),
                "ndcg_at_k": score(f"ndcg@{k}", row),
                **_times(samples.get(query_id)),
            }
        )
    total = len(findings.gold)
    return {"run_id": run, "results": results, "total": total, "page": page, "per_page": per_page}


def drilldown(subject: Subject, query: str, *, hits: int | None = None) -> Document:
    """Return one query in all runs: its targets, and the first *hits* of each run."""
    gold = subject.findings.gold
    if query not in gold.query_ids:
        raise UnknownName(f"no query {query!r}")
    row = gold.query_ids.index(query)
    tags = {tag: column[row] for tag, column in gold.tags.items() if column[row]}
    return {
        "query": {
            "query_id": query,
            "query_key": query,
            "query_text": gold.texts[row],
            "tags": tags,
        },
        "targets": _targets(subject, row),
        "runs": [_run_on(subject, index, row, hits) for index in range(len(subject.runs))],
    }


def _targets(subject: Subject, row: int) -> list[Document]:
    """Return the targets of a query: in each run the rank, and the loss reason of a lost one."""
    findings = subject.findings
    documents = []
    for number, target in enumerate(findings.gold.targets(row)):
        found_at: dict[str, int | None] = {}
        lost: dict[str, str] = {}
        for index, run in enumerate(subject.runs):
            found_at[run.id] = findings.traces[index][row].ranks[number] or None
            reason = loss_reason_of(findings, index, row, number)
            if reason:
                lost[run.id] = LOSS_REASONS[reason].reason
        documents.append(
            {
                "path": target.path,
                "start_line": target.start_line,
                "end_line": target.end_line,
                "symbol": target.symbol,
                "grade": target.grade,
                "found_at": found_at,
                "lost": lost,
            }
        )
    return documents


def _run_on(subject: Subject, index: int, row: int, most: int | None) -> Document:
    findings, run = subject.findings, subject.runs[index]
    query_id = findings.gold.query_ids[row]
    trace = findings.traces[index][row]
    targets = findings.gold.targets(row)
    grades = [targets[number].grade if number >= 0 else None for number in trace.matched]
    pairs = list(zip(trace.hits, grades, strict=True))[:most]
    return {
        "run_id": run.id,
        "name": run.name,
        "status": findings.contest.evaluations[index].table.statuses[row].name.lower(),
        "error": subject.error(index, query_id) or None,
        "retrieved": trace.retrieved,
        "metrics": {
            name: known(column[row]) for name, column in subject.table(index).columns.items()
        },
        "hits": [
            {
                "rank": rank,
                "path": hit.path,
                "start_line": hit.start_line,
                "end_line": hit.end_line,
                "symbol": hit.symbol,
                "score": 0.0 if isnan(hit.score) else hit.score,
                "grade": grade,
                "relevant": bool(grade and grade > 0),
            }
            for rank, (hit, grade) in enumerate(pairs, 1)
        ],
        **_times(subject.samples[index].get(query_id)),
    }


def _times(sample: LatencySample | None) -> dict[str, float | None]:
    """Return the latency of a query and the part of reranking; None where not measured."""
    if sample is None:
        return {"search_time_ms": None, "rerank_time_ms": None}
    reranking = sample.phases.get(RERANKING)
    return {
        "search_time_ms": latency_ms(sample),
        "rerank_time_ms": None if reranking is None else reranking / NS_PER_MS,
    }
