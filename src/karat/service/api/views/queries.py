"""Single queries: what a run answered, what all runs did with one, what awaits a judgment."""

from math import isnan

from karat.app.judge import best_rank
from karat.errors import UnknownName
from karat.model import Dataset, Query, Run
from karat.model.timings import NS_PER_MS, Sample, latency_ms
from karat.report.findings.fate_words import FATES
from karat.report.findings.ranks import fate_of
from karat.scoring.matching import trace
from karat.service.api.schemas.datasets import Unjudged, UnjudgedHit
from karat.service.api.schemas.results import (
    Drilldown,
    DrilldownHit,
    DrilldownQuery,
    DrilldownRun,
    DrilldownTarget,
    QueryResult,
    QueryResults,
)
from karat.service.api.views.runs import known
from karat.service.results import JudgingPool, ScoredBenchmark

__all__ = ["drilldown", "query_results", "unjudged"]

RERANKING = "rerank"
# As many hits of a run as a reader looks through.
SHOWN = 100


def query_results(scored: ScoredBenchmark, run: str, *, page: int, per_page: int) -> QueryResults:
    """Return what one run answered, query by query, at the primary cut-off."""
    place = scored.place(run)
    findings, k = scored.findings, scored.config.primary_k
    table = findings.contest.evaluations[place].table
    measured = findings.runs[place]
    places = {query_id: place for place, query_id in enumerate(measured.run.query_ids)}
    samples = {sample.query_id: sample for sample in _samples(scored, place)}
    wanted = range(len(findings.gold))[(page - 1) * per_page : page * per_page]

    def score(measure: str, row: int) -> float | None:
        column = table.columns.get(measure)
        return None if column is None else known(column[row])

    results = []
    for row in wanted:
        query_id = findings.gold.query_ids[row]
        hits = measured.run.answer(places[query_id]).hits if query_id in places else ()
        results.append(
            QueryResult(
                query_id=query_id,
                query_key=query_id,
                query_text=findings.gold.texts[row],
                retrieved_doc_ids=list(dict.fromkeys(hit.path for hit in hits)),
                precision_at_k=score(f"precision@{k}", row),
                recall_at_k=score(f"recall@{k}", row),
                reciprocal_rank=score("mrr", row),
                ndcg_at_k=score(f"ndcg@{k}", row),
                **_times(samples.get(query_id)),
            )
        )
    total = len(findings.gold)
    return QueryResults(run_id=run, results=results, total=total, page=page, per_page=per_page)


def drilldown(scored: ScoredBenchmark, query: str) -> Drilldown:
    """Return one query across all runs: what was to be found, and what each run found."""
    gold = scored.findings.gold
    if query not in gold.query_ids:
        raise UnknownName(f"no query {query!r}")
    row = gold.query_ids.index(query)
    tags = {tag: column[row] for tag, column in gold.tags.items() if column[row]}
    asked = Query(query, gold.texts[row], tuple(gold.targets(row)), tags)
    targets = [
        DrilldownTarget(
            path=target.path,
            start_line=target.start_line,
            end_line=target.end_line,
            symbol=target.symbol,
            grade=target.grade,
            found_at={},
            lost={},
        )
        for target in asked.targets
    ]
    single = Dataset.of([asked], name=gold.name, match=gold.match)
    runs = [
        _run_on(scored, place, row, single=single, targets=targets)
        for place in range(len(scored.runs))
    ]
    shown = DrilldownQuery(query_id=query, query_key=query, query_text=asked.text, tags=tags)
    return Drilldown(query=shown, targets=targets, runs=runs)


def _run_on(
    scored: ScoredBenchmark,
    place: int,
    row: int,
    *,
    single: Dataset,
    targets: list[DrilldownTarget],
) -> DrilldownRun:
    """Return what the run at *place* found, and note with *targets* what became of them in it."""
    run, measured = scored.runs[place], scored.findings.runs[place]
    (query,) = single.query_ids
    ids = measured.run.query_ids
    answers = [measured.run.answer(ids.index(query))] if query in ids else []
    (traced,) = trace(single, Run.of(answers), keep=SHOWN)
    for number, target in enumerate(targets):
        target.found_at[run.id] = traced.found[number] or None
        fate = fate_of(scored.findings, place, row, number)
        if fate:
            target.lost[run.id] = FATES[fate].reason
    grades = [targets[number].grade if number >= 0 else None for number in traced.matched]
    table = scored.findings.contest.evaluations[place].table
    samples = {sample.query_id: sample for sample in _samples(scored, place)}
    return DrilldownRun(
        run_id=run.id,
        name=run.label,
        metrics={name: known(column[row]) for name, column in table.columns.items()},
        hits=[
            DrilldownHit(
                rank=rank,
                path=hit.path,
                start_line=hit.start_line,
                end_line=hit.end_line,
                symbol=hit.symbol,
                score=0.0 if isnan(hit.score) else hit.score,
                grade=grade,
                relevant=bool(grade and grade > 0),
            )
            for rank, (hit, grade) in enumerate(zip(traced.hits, grades, strict=True), 1)
        ],
        **_times(samples.get(query)),
    )


def unjudged(pool: JudgingPool, *, page: int, per_page: int) -> Unjudged:
    """Return the hits of *pool* that nobody has judged, the best ranked first."""
    gold = pool.gold
    return Unjudged(
        version=pool.version,
        hits=[
            UnjudgedHit(
                query_id=gold.query_ids[item.row],
                query_text=gold.texts[item.row],
                path=item.hit.path,
                start_line=item.hit.start_line,
                end_line=item.hit.end_line,
                symbol=item.hit.symbol,
                best_rank=best_rank(item),
                runs=list(item.ranks),
            )
            for item in pool.page(limit=per_page, offset=(page - 1) * per_page)
        ],
        total=len(pool),
        page=page,
        per_page=per_page,
    )


def _samples(scored: ScoredBenchmark, place: int) -> tuple[Sample, ...]:
    timings = scored.findings.runs[place].timings
    return timings.samples if timings else ()


def _times(sample: Sample | None) -> dict[str, float | None]:
    """Return how long a query took, and how much of that reranking: None where not measured."""
    if sample is None:
        return {"search_time_ms": None, "rerank_time_ms": None}
    reranking = sample.phases.get(RERANKING)
    return {
        "search_time_ms": latency_ms(sample),
        "rerank_time_ms": None if reranking is None else reranking / NS_PER_MS,
    }
