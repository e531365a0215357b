"""Error responses: one format for all, with a reference to the log."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from karat.errors import (
    AnalysisError,
    Conflict,
    EngineError,
    InputError,
    KaratError,
    LimitExceeded,
    MissingExtra,
    StoreUnavailable,
    TooManyJobs,
    UnknownName,
)
from karat.extensions.service.logs import correlation_id
from karat.extensions.service.schemas.base import Failure
from karat.system.files import is_disk_full

REASONS = {
    400: "The request is not valid",
    401: "No valid token",
    403: "The token does not allow it, or the request comes from another site",
    404: "Not found, or owned by somebody else",
    408: "The body did not arrive in time",
    409: "The request conflicts with the current state",
    412: "The version does not match the current one",
    413: "The body is larger than allowed",
    415: "The body has another type than expected",
    422: "A field is missing, unknown or out of range",
    429: "Too many requests, or too many jobs at once",
    503: "The database or a process of the service does not answer; retry later",
    507: "A disk of the service is full",
}
# Any route may return these.
ALWAYS = (400, 401, 403, 421, 422, 429, 503, 507)


STATUSES: tuple[tuple[type[KaratError], int], ...] = (
    (TooManyJobs, 429),
    (Conflict, 409),
    (UnknownName, 404),
    (LimitExceeded, 413),
    (InputError, 400),
    (MissingExtra, 400),
    (EngineError, 400),
    (AnalysisError, 503),
    (StoreUnavailable, 503),
)
# A database mostly restarts within some seconds.
RETRY = {"Retry-After": "5"}


def failures(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of the errors of a route."""
    return {
        code: {"model": Failure, "description": REASONS.get(code, HTTPStatus(code).phrase)}
        for code in sorted({*codes, *ALWAYS})
    }


def failure(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an error as a response."""
    content = {"detail": detail, "reference": f"ERR-{correlation_id()}"}
    return JSONResponse(content, status_code=status, headers=headers)


def full_disk(app: Any, error: Exception) -> JSONResponse | None:
    """Return the answer to *error* where a full disk has caused it."""
    return failure(507, app.state.service.disk.explain()) if is_disk_full(error) else None


async def refuse(
    scope: Scope, receive: Receive, send: Send, *, status: int, detail: str, **headers: str
) -> None:
    """Answer a request, or close a WebSocket that was not yet accepted, with an error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
        await send({"type": "websocket.close", "code": 1008, "reason": detail})
        return
    await failure(status, detail, named)(scope, receive, send)


def install(app: FastAPI) -> None:
    """Let *app* answer every error in this format."""
    app.add_exception_handler(KaratError, _known)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


def _known(request: Request, error: Exception) -> JSONResponse:
    if full := full_disk(request.app, error):
        return full
    for kind, status in STATUSES:
        if isinstance(error, kind):
            headers = RETRY if status == 503 else None
            settings = request.app.state.service.settings
            return failure(status, settings.without_locations(str(error)), headers)
    raise error


def _http(request: Request, error: Exception) -> JSONResponse:
    # FastAPI hides errors of reading a form, which is stored on disk, behind a status of its own.
    if full := full_disk(request.app, error):
        return full
    status = getattr(error, "status_code", 500)
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        # Starlette names the methods of the first route at this path only.
        headers["Allow"] = ", ".join(sorted(_methods(request)))
    return failure(status, str(getattr(error, "detail", "")), headers)


def _methods(request: Request) -> set[str]:
    methods: set[str] = set()
    for route in request.app.routes:
        match, _ = route.matches({**request.scope, "method": "*"})
        if match is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return methods


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Return the problem of each field; the sent values are not repeated."""
    problems = error.errors() if isinstance(error, RequestValidationError) else ()
    lines = [
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in list(problems)[:20]
    ]
    hidden = len(problems) - len(lines)
    return failure(422, "; ".join(lines) + (f"; and {hidden} more" if hidden else ""))
