"""Across benchmarks: two runs side by side, and all runs in the course of time."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import StringConstraints
from starlette.concurrency import run_in_threadpool

from karat.errors import Conflict
from karat.service.api.failures import failures
from karat.service.api.schemas.analysis import TwoSides
from karat.service.api.schemas.base import Measure
from karat.service.api.schemas.results import Trend
from karat.service.api.state import Asking, Caller, Service, Serving
from karat.service.api.views.results import plain_results
from karat.service.api.views.trend import trend
from karat.service.results import results_key

__all__ = ["router"]

router = APIRouter(prefix="/api/v2", tags=["results"])

UUID_FORM = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
RUN_FORM = r"[a-z2-7]{1,16}\.[0-9]{1,4}"
Side = Annotated[str, StringConstraints(pattern=rf"^({UUID_FORM}|{RUN_FORM})$")]


class _Chosen:
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


@router.get("/compare", response_model=TwoSides, responses=failures(400, 404, 409))
async def compare(
    serving: Serving, caller: Asking, left: Side, right: Side, metric: Measure | None = None
) -> Response:
    """Compare two runs, or the best runs of two benchmarks, by a paired test."""
    one = await run_in_threadpool(_Chosen, serving, caller, left)
    other = await run_in_threadpool(_Chosen, serving, caller, right)
    asked = {
        "left": one.benchmark.id,
        "left_run": one.run,
        "right": other.benchmark.id,
        "right_run": other.run,
        "metric": metric,
    }
    body = await serving.answers.get(
        f"{one.key} {other.key} {asked}", lambda: serving.analyst.ask("two_sides", **asked)
    )
    return Response(body, media_type="application/json")


@router.get("/trend", responses=failures(404))
def get_trend(serving: Serving, caller: Asking, dataset: UUID) -> Trend:
    """Return the runs over a dataset in the course of time, as scored when they ended."""
    serving.store.datasets.get(str(dataset), owner=caller.sees)
    return trend(serving.store, str(dataset), owner=caller.sees)
