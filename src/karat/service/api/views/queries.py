"""Single queries: the results of one run, one query in all runs, hits that nobody has judged."""

from karat.app.judge import best_rank
from karat.app.judgment_edits import JudgingPool
from karat.report.page import queries as page_of
from karat.service.api.schemas.datasets import UnjudgedHit, UnjudgedHits
from karat.service.api.schemas.results import Drilldown, QueryResults
from karat.service.api.views.results import subject_of
from karat.service.results import ScoredBenchmark

__all__ = ["drilldown", "query_results", "unjudged"]


def query_results(scored: ScoredBenchmark, run: str, *, page: int, per_page: int) -> QueryResults:
    """Return one page of the query results of a run, at the primary cut-off."""
    document = page_of.query_results(subject_of(scored), run, page=page, per_page=per_page)
    return QueryResults.model_validate(document)


def drilldown(scored: ScoredBenchmark, query: str) -> Drilldown:
    """Return one query in all runs: its targets, and the hits of each run."""
    return Drilldown.model_validate(page_of.drilldown(subject_of(scored), query))


def unjudged(pool: JudgingPool, *, page: int, per_page: int) -> UnjudgedHits:
    """Return the hits of *pool* that nobody has judged, the best ranked first."""
    gold = pool.gold
    return UnjudgedHits(
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
