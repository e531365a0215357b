"""The service itself: is it alive, is it ready, who asks."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from karat.errors import KaratError
from karat.installation import __version__
from karat.report.page.definitions import definitions
from karat.service.api.auth import COOKIE
from karat.service.api.failures import failures
from karat.service.api.schemas.results import Definitions
from karat.service.api.schemas.system import EmbeddingModel, Limits, Live, Me, Ready
from karat.service.api.state import Asking, Serving
from karat.service.collections import model_installs
from karat.service.observability.metrics import CONTENT_TYPE_LATEST

__all__ = ["router"]

router = APIRouter(tags=["system"])
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz")
async def healthz() -> Live:
    """Say that the process answers."""
    return Live(status="ok")


@router.get("/readyz", responses={503: {"model": Ready}})
async def readyz(serving: Serving, response: Response) -> Ready:
    """Say whether the database answers and has the tables of this version."""
    try:
        await run_in_threadpool(serving.store.active_runs)
        problem = ""
    except KaratError:
        problem = "does not answer"
        response.status_code = 503
    return Ready(
        status="not ready" if problem else "ready", checks={"database": problem or "ready"}
    )


@router.get("/metrics", response_class=Response, responses={**failures(), **TEXT})
async def metrics(serving: Serving) -> Response:
    """Return the metrics of this process for Prometheus."""
    active = await run_in_threadpool(serving.store.active_runs)
    serving.metrics.active_runs.set(active)
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/v2/me", responses=failures())
async def me(serving: Serving, caller: Asking) -> Me:
    """Say who asks, what they may do, and what this service allows."""
    limits = serving.settings.limits
    return Me(
        owner_id=caller.owner,
        scopes=list(caller.scopes),
        authenticated=bool(caller.token),
        version=__version__,
        roots=[str(root) for root in serving.settings.roots],
        models=[
            EmbeddingModel(name=name, installed=not install, install=install)
            for name, install in model_installs().items()
        ],
        limits=Limits(
            upload_bytes=limits.files.upload_bytes,
            upload_queries=limits.files.upload_queries,
            upload_judgments=limits.files.upload_judgments,
            archive_bytes=limits.archive_bytes,
            active_jobs=limits.active_jobs,
            runs=limits.runs,
            runs_warned=limits.runs_warned,
        ),
    )


@router.get("/api/v2/definitions", responses=failures())
async def get_definitions(_: Asking) -> Definitions:
    """Return what each metric and each loss reason means."""
    return Definitions.model_validate(definitions())


@router.post("/api/v2/session", status_code=204, responses=failures())
async def open_session(request: Request, response: Response) -> None:
    """Let a web page go on with the token of this request, as a cookie that no script can read.

    A browser sends no header of its own with an event stream or a WebSocket.
    """
    _, _, secret = request.headers.get("authorization", "").partition(" ")
    if secret:
        # Whoever makes the header up only keeps the cookie from themselves.
        spoken = request.headers.get("x-forwarded-proto", request.url.scheme)
        response.set_cookie(
            COOKIE,
            secret.strip(),
            httponly=True,
            samesite="strict",
            secure=spoken == "https",
        )


@router.delete("/api/v2/session", status_code=204, responses=failures())
async def close_session(response: Response) -> None:
    """Forget the token of the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
