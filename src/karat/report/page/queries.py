"""Documents on single queries: the results of one run, and one query in all runs."""

from math import isnan

from karat.errors import UnknownName
from karat.model.timings import NS_PER_MS, LatencySample, latency_ms
from karat.report.findings.loss_reasons import LOSS_REASONS, loss_reason_of
from karat.report.page.subject import Document, Subject, known

__all__ = ["drilldown", "query_results"]

RERANKING = "rerank"


def query_results(subject: Subject, run: str, *, page: int, per_page: int) -> Document:
    """Return one page of the query results of a run, at the primary cut-off."""
    place = subject.place(run)
    findings, k = subject.findings, subject.primary_k
    table = subject.table(place)
    answers = findings.runs[place].run
    places = {query_id: row for row, query_id in enumerate(answers.query_ids)}
    samples = subject.samples[place]

    def score(measure: str, row: int) -> float | None:
        column = table.columns.get(measure)
        return None if column is None else known(column[row])

    results = []
    for row in range(len(findings.gold))[(page - 1) * per_page : page * per_page]:
        query_id = findings.gold.query_ids[row]
        hits = answers.answer(places[query_id]).hits if query_id in places else ()
        results.append(
            {
                "query_id": query_id,
                "query_key": query_id,
                "query_text": findings.gold.texts[row],
                "retrieved_doc_ids": list(dict.fromkeys(hit.path for hit in hits)),
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
        "runs": [_run_on(subject, place, row, hits) for place in range(len(subject.runs))],
    }


def _targets(subject: Subject, row: int) -> list[Document]:
    """Return the targets of a query: in each run the rank, and the loss reason of a lost one."""
    findings = subject.findings
    shown = []
    for number, target in enumerate(findings.gold.targets(row)):
        found_at: dict[str, int | None] = {}
        lost: dict[str, str] = {}
        for place, run in enumerate(subject.runs):
            found_at[run.id] = findings.traces[place][row].found[number] or None
            reason = loss_reason_of(findings, place, row, number)
            if reason:
                lost[run.id] = LOSS_REASONS[reason].reason
        shown.append(
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
    return shown


def _run_on(subject: Subject, place: int, row: int, most: int | None) -> Document:
    findings, run = subject.findings, subject.runs[place]
    query_id = findings.gold.query_ids[row]
    trace = findings.traces[place][row]
    targets = findings.gold.targets(row)
    grades = [targets[number].grade if number >= 0 else None for number in trace.matched]
    pairs = list(zip(trace.hits, grades, strict=True))[:most]
    return {
        "run_id": run.id,
        "name": run.name,
        "status": findings.contest.evaluations[place].table.statuses[row].name.lower(),
        "error": subject.error(place, query_id) or None,
        "retrieved": trace.retrieved,
        "metrics": {
            name: known(column[row]) for name, column in subject.table(place).columns.items()
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
        **_times(subject.samples[place].get(query_id)),
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
