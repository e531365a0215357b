"""Results of benchmarks: scores with intervals, comparisons, single queries and files."""

import os
from dataclasses import replace
from pathlib import Path
from tempfile import mkstemp
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from pydantic import StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from karat.errors import Conflict
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import (
    NOT_MODIFIED,
    Caller,
    CurrentCaller,
    CurrentService,
    RequestedBenchmark,
    RequestedPage,
    Service,
    VersionedBenchmark,
)
from karat.extensions.service.results import results_key
from karat.extensions.service.schemas.base import NO_NUL, Measure, QueryId, RunId
from karat.extensions.service.schemas.results import (
    Changes,
    Comparison,
    Curves,
    Details,
    Drilldown,
    QueryResults,
    Results,
    ScoreMatrix,
    Slices,
    Trend,
    TwoSides,
)
from karat.extensions.service.views import plain_results, trend

router = APIRouter(prefix="/api/v2/benchmarks/{benchmark_id}", tags=["results"])

Tag = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NO_NUL)]


@router.get(
    "/results",
    response_model=Results,
    responses={**failures(404), **NOT_MODIFIED},
)
async def get_results(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return all runs; statistics are included once all runs have their scores."""
    store, benchmark = serving.store, versioned.benchmark

    async def plain() -> bytes:
        results = await run_in_threadpool(plain_results, store, benchmark)
        return results.model_dump_json().encode()

    async def full() -> bytes:
        stored = await run_in_threadpool(
            store.benchmarks.stored_results, benchmark.id, versioned.key
        )
        return stored or await versioned.analysis(serving, "results")

    if benchmark.status in {"pending", "running"} or not benchmark.completed_runs:
        # Its worker adds statistics before it measures latency: the same state, another version.
        if await run_in_threadpool(store.benchmarks.has_results, benchmark.id, versioned.key):
            return await replace(versioned, key=f"s{versioned.key}").answered(
                serving, "results", full
            )
        return await versioned.answered(serving, "results", plain)
    return await versioned.answered(serving, "results", full)


@router.get(
    "/runs/{run_id}/queries",
    response_model=QueryResults,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_run_queries(
    serving: CurrentService,
    versioned: RequestedBenchmark,
    run_id: RunId,
    paging: RequestedPage,
) -> Response:
    """Return the results of one run, query by query."""
    return await versioned.analysed(serving, "queries", run=run_id, **paging._asdict())


@router.get(
    "/comparison",
    response_model=Comparison,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_comparison(
    serving: CurrentService,
    versioned: RequestedBenchmark,
    baseline: RunId | None = None,
    metric: Measure | None = None,
) -> Response:
    """Compare all runs with one of them by paired tests."""
    return await versioned.analysed(serving, "comparison", baseline=baseline, metric=metric)


@router.get(
    "/matrix",
    response_model=ScoreMatrix,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_matrix(
    serving: CurrentService,
    versioned: RequestedBenchmark,
    metric: Measure | None = None,
) -> Response:
    """Return the score of every query in every run."""
    return await versioned.analysed(serving, "matrix", metric=metric)


@router.get(
    "/slices",
    response_model=Slices,
    responses={**failures(400, 404, 409), **NOT_MODIFIED},
)
async def get_slices(
    serving: CurrentService,
    versioned: RequestedBenchmark,
    metric: Measure | None = None,
    by: Tag | None = None,
) -> Response:
    """Return the means over the queries with each value of a tag."""
    return await versioned.analysed(serving, "slices", metric=metric, by=by)


@router.get(
    "/curves",
    response_model=Curves,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_curves(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return measures against k."""
    return await versioned.analysed(serving, "curves")


@router.get(
    "/details",
    response_model=Details,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_details(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return warnings, advice, ranks, latency, cost and method."""
    return await versioned.analysed(serving, "details")


@router.get("/changes", response_model=Changes, responses=failures(404, 409))
async def get_changes(
    serving: CurrentService, caller: CurrentCaller, versioned: RequestedBenchmark
) -> Response:
    """Return how runs differ from earlier runs of the same name on the same documents."""
    body = await versioned.analysis(serving, "changes", sees=caller.sees)
    return Response(body, media_type="application/json")


@router.get(
    "/queries/{query_id:path}",
    response_model=Drilldown,
    responses={**failures(404, 409), **NOT_MODIFIED},
)
async def get_query(
    serving: CurrentService, versioned: RequestedBenchmark, query_id: QueryId
) -> Response:
    """Return one query across all runs."""
    return await versioned.analysed(serving, "drilldown", query=query_id)


# A report has its script and style inside. The sandbox gives it an opaque origin, so that it
# cannot send requests to this service.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
TYPES = {".html": "text/html", ".csv": "text/csv", ".json": "application/json"}


def _described(suffix: str) -> dict[int | str, dict[str, Any]]:
    content = {TYPES[suffix]: {"schema": {"type": "object" if suffix == ".json" else "string"}}}
    described = {"description": "The file", "content": content}
    return {**failures(404, 409), **NOT_MODIFIED, 200: described}


@router.get("/report.html", response_class=Response, responses=_described(".html"))
async def get_report(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return the report as one file that needs nothing else."""
    policy = {"Content-Security-Policy": REPORT_POLICY}
    return await _drawn(serving, versioned, ".html", **policy)


@router.get("/export.csv", response_class=Response, responses=_described(".csv"))
async def export_csv(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return the scores of all runs and queries as a table."""
    return await _drawn(serving, versioned, ".csv")


@router.get("/export.json", response_class=Response, responses=_described(".json"))
async def export_json(serving: CurrentService, versioned: RequestedBenchmark) -> Response:
    """Return all data of a report as JSON."""
    return await _drawn(serving, versioned, ".json")


async def _drawn(
    serving: Service, versioned: VersionedBenchmark, suffix: str, **headers: str
) -> Response:
    if versioned.is_seen:
        return versioned.unchanged
    handle, path = mkstemp(prefix="karat-export-", suffix=suffix)
    os.close(handle)
    try:
        await versioned.analysis(serving, "draw", path=path)
    except BaseException:
        Path(path).unlink()
        raise
    return _TemporaryFile(path, media_type=TYPES[suffix], headers={**versioned.headers, **headers})


class _TemporaryFile(FileResponse):
    """A file that is deleted after the response, successful or not."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            Path(self.path).unlink()


comparing_router = APIRouter(prefix="/api/v2", tags=["results"])

UUID_FORM = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
RUN_FORM = r"[a-z2-7]{1,16}\.[0-9]{1,4}"
Side = Annotated[str, StringConstraints(pattern=rf"^({UUID_FORM}|{RUN_FORM})$")]


class _ComparedRun:
    """One side: a run, named itself or as the best of its benchmark."""

    def __init__(self, serving: Service, caller: Caller, side: str) -> None:
        experiment, point, _ = side.partition(".")
        benchmarks = serving.store.benchmarks
        if point:
            self.benchmark = benchmarks.of_experiment(experiment, owner=caller.sees)
            self.run = side
        else:
            self.benchmark = benchmarks.get(side, owner=caller.sees)
            best = plain_results(serving.store, self.benchmark).summary.best_run
            if best is None:
                raise Conflict(f"benchmark {side} has no completed run yet")
            self.run = best
        self.key = results_key(serving.store, self.benchmark)


@comparing_router.get("/compare", response_model=TwoSides, responses=failures(400, 404, 409))
async def compare(
    serving: CurrentService,
    caller: CurrentCaller,
    left: Side,
    right: Side,
    metric: Measure | None = None,
) -> Response:
    """Compare two runs, or the best runs of two benchmarks, by a paired test."""
    one = await run_in_threadpool(_ComparedRun, serving, caller, left)
    other = await run_in_threadpool(_ComparedRun, serving, caller, right)
    asked: dict[str, Any] = {
        "left": one.benchmark.id,
        "left_run": one.run,
        "right": other.benchmark.id,
        "right_run": other.run,
        "metric": metric,
    }
    body = await serving.responses.get(
        f"{one.key} {other.key} {asked}",
        lambda: serving.analysts.request(
            "two_sides", subject=f"statistics {one.benchmark.id}", owner=caller.share, **asked
        ),
    )
    return Response(body, media_type="application/json")


@comparing_router.get("/trend", responses=failures(404))
def get_trend(serving: CurrentService, caller: CurrentCaller, dataset: UUID) -> Trend:
    """Return the runs on a dataset over time, as scored when they ended."""
    serving.store.datasets.get(str(dataset), owner=caller.sees)
    return trend(serving.store, str(dataset), owner=caller.sees)
