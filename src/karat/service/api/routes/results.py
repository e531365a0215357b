"""Results of benchmarks: scores with intervals, comparisons and single queries."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import StringConstraints
from starlette.concurrency import run_in_threadpool

from karat.service.api.failures import failures
from karat.service.api.schemas.analysis import Comparison, Curves, ScoreMatrix, Slices
from karat.service.api.schemas.base import NO_NUL, Measure, RunId
from karat.service.api.schemas.results import Details, Drilldown, QueryResults, Results
from karat.service.api.state import Paged, Serving
from karat.service.api.versioned import NOT_MODIFIED, Found
from karat.service.api.views.results import plain_results

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/benchmarks/{benchmark_id}", tags=["results"])

Tag = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NO_NUL)]
QueryId = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]


@router.get(
    "/results",
    response_model=Results,
    responses={**failures(404), **NOT_MODIFIED},
)
async def get_results(serving: Serving, found: Found) -> Response:
    """Return all runs; statistics are there when all runs have their scores."""
    store, benchmark = serving.store, found.benchmark

    async def plain() -> bytes:
        shown = await run_in_threadpool(plain_results, store, benchmark)
        return shown.model_dump_json().encode()

    async def full() -> bytes:
        kept = await run_in_threadpool(store.benchmarks.kept_results, benchmark.id, found.key)
        return kept or await serving.analyst.ask("results", benchmark=benchmark.id)

    if benchmark.status in {"pending", "running"} or not benchmark.completed_runs:
        # Its worker adds statistics before it measures latency: the same state, another version.
        if await run_in_threadpool(store.benchmarks.has_results, benchmark.id, found.key):
            return await replace(found, key=f"s{found.key}").answered(serving, "results", full)
        return await found.answered(serving, "results", plain)
    return await found.answered(serving, "results", full)


@router.get(
    "/runs/{run_id}/queries",
    response_model=QueryResults,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_run_queries(
    serving: Serving,
    found: Found,
    run_id: RunId,
    paging: Paged,
) -> Response:
    """Return what one run answered, query by query."""
    return await found.analysed(serving, "queries", run=run_id, **paging._asdict())


@router.get(
    "/comparison",
    response_model=Comparison,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_comparison(
    serving: Serving,
    found: Found,
    baseline: RunId | None = None,
    metric: Measure | None = None,
) -> Response:
    """Compare all runs with one of them by paired tests."""
    return await found.analysed(serving, "comparison", baseline=baseline, metric=metric)


@router.get(
    "/matrix",
    response_model=ScoreMatrix,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_matrix(
    serving: Serving,
    found: Found,
    metric: Measure | None = None,
) -> Response:
    """Return the score of every query in every run."""
    return await found.analysed(serving, "matrix", metric=metric)


@router.get(
    "/slices",
    response_model=Slices,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_slices(
    serving: Serving,
    found: Found,
    metric: Measure | None = None,
    by: Tag | None = None,
) -> Response:
    """Return the means over the queries with each value of a tag."""
    return await found.analysed(serving, "slices", metric=metric, by=by)


@router.get(
    "/curves",
    response_model=Curves,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_curves(serving: Serving, found: Found) -> Response:
    """Return measures against k."""
    return await found.analysed(serving, "curves")


@router.get(
    "/details",
    response_model=Details,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_details(serving: Serving, found: Found) -> Response:
    """Return warnings, advice, ranks, latency, cost and method."""
    return await found.analysed(serving, "details")


@router.get(
    "/queries/{query_id:path}",
    response_model=Drilldown,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_query(serving: Serving, found: Found, query_id: QueryId) -> Response:
    """Return one query across all runs."""
    return await found.analysed(serving, "drilldown", query=query_id)
