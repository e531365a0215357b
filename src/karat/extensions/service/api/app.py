"""The service as one ASGI application."""

import asyncio
import gzip
import json
import logging
import mimetypes
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from karat.extensions.service.analysts.pool import AnalystPool
from karat.extensions.service.analysts.warm_up import SearchWarmUp
from karat.extensions.service.api.auth import Auth
from karat.extensions.service.api.failures import failures, install
from karat.extensions.service.api.middleware import EXTENSIONS, BodyCap, Guard, RequestObserver
from karat.extensions.service.api.routes import (
    benchmarks,
    collections,
    datasets,
    events,
    examples,
    judgments,
    results,
    system,
)
from karat.extensions.service.api.state import Service
from karat.extensions.service.collections import SearcherCache, open_uploads
from karat.extensions.service.events import EventBus
from karat.extensions.service.logs import Correlation
from karat.extensions.service.metrics import RunMetrics, ServiceMetrics
from karat.extensions.service.schemas.results import Event
from karat.extensions.service.settings import DiskSpace, RequestLimits, ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.installation import __version__
from karat.registry import Registry

logger = logging.getLogger("karat.service")

STATIC = Path(__file__).with_name("static")
SCHEMA_FILE = Path(__file__).with_name("openapi.json")
# Scripts, styles and pictures are files of this service; nothing is loaded from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# The name of an asset holds a hash of its content, so that it never changes.
FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


class StaticFile(NamedTuple):
    """A file of the page, as it is and compressed."""

    content: bytes
    packed: bytes
    type: str


@cache
def built() -> dict[str, StaticFile]:
    """Return every file of the page by its path; no request opens a file."""
    static_files = {}
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            packed = gzip.compress(content, mtime=0)
            static_files[path.relative_to(STATIC).as_posix()] = StaticFile(content, packed, kind)
    return static_files


@router.get("/")
async def start() -> Response:
    """Redirect to the page."""
    return RedirectResponse("/app/")


@router.get("/app/{path:path}")
async def page(request: Request) -> Response:
    """Return the page, for any address in it."""
    return _answer(request, "index.html", cache_control="no-cache")


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    """Return a script or a style of the page."""
    return _answer(request, f"assets/{name}", cache_control=FOREVER)


@router.get("/favicon.svg")
async def icon(request: Request) -> Response:
    """Return the icon of the page."""
    return _answer(request, "favicon.svg", cache_control="no-cache")


def _answer(request: Request, name: str, *, cache_control: str) -> Response:
    static_file = built().get(name)
    if static_file is None:
        raise HTTPException(404, f"The web page has no file {name}")
    headers = {
        "Cache-Control": cache_control,
        "Content-Security-Policy": POLICY,
        "Vary": "Accept-Encoding",
    }
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(static_file.content, media_type=static_file.type, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(static_file.packed, media_type=static_file.type, headers=headers)


# A multipart body is its file and a little more.
AROUND_A_FILE = 64 * 1024
# Of two routes at one path, the first that fits is taken: forms before JSON.
ROUTERS = (
    system.router,
    system.evaluation_router,
    collections.archives_router,
    collections.router,
    datasets.router,
    datasets.mappings_router,
    benchmarks.router,
    examples.router,
    system.engines_router,
    events.router,
    results.router,
    results.comparing_router,
    judgments.router,
    system.search_router,
    router,
)


# Routers of extensions, each below EXTENSIONS and its name.
ROUTERS_ADDED: Registry[APIRouter] = Registry("router", {})


def create_app(settings: ServiceSettings, *, extensions: bool = True) -> FastAPI:
    """Return the service; its store is opened when it starts and closed when it stops.

    With *extensions* it has their routes too.
    """
    metrics = ServiceMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(open_uploads, settings.folders.uploads)
        store = await run_in_threadpool(ServiceStore, settings.store)
        sharing = await run_in_threadpool(store.settings.sharing, settings.shared)
        counted = RunMetrics(store, metrics)
        event_bus, searchers = (
            EventBus(store.events, on_event=counted),
            SearcherCache(settings.folders),
        )
        analysts = _analysts(settings)
        warm_up = SearchWarmUp(analysts, store) if settings.warm_up else None
        app.state.service = Service(
            settings,
            store,
            metrics,
            searchers,
            event_bus,
            analysts,
            warm_up,
            _disk(settings, store),
            sharing.shared,
        )
        reading = asyncio.create_task(event_bus.run())
        warming = asyncio.create_task(warm_up.run()) if warm_up else None
        try:
            yield
        finally:
            event_bus.close()
            await reading
            counted.close()
            if warming:
                warming.cancel()
            await analysts.close()
            store.close()

    app = FastAPI(
        title="Karat",
        version=__version__,
        summary="Measures how good a search is",
        lifespan=lifespan,
        # All at one level, so that code that walks the routes sees every one of them.
        routes=[
            route
            for router in (*ROUTERS, *(_routers_added() if extensions else ()))
            for route in router.routes
        ],
        openapi_url="/api/v2/openapi.json",
        docs_url=None,  # The pages of FastAPI load scripts from elsewhere.
        redoc_url=None,
        telemetry={"metrics": False, "logs": False, "operation_spans": False},
    )
    install(app)
    describe(app)
    # The last one added is the first to see a request.
    limits = settings.limits
    app.add_middleware(
        BodyCap, most=limits.body_bytes, uploads=_uploads(limits), patience_s=limits.body_s
    )
    app.add_middleware(Auth, settings=settings)
    app.add_middleware(RequestObserver, metrics=metrics)
    app.add_middleware(Guard, hosts=settings.known_hosts)
    app.add_middleware(Correlation)
    return app


def _routers_added() -> Iterator[APIRouter]:
    """Yield the routers of extensions; without one that is broken the service still starts."""
    for name in ROUTERS_ADDED:
        prefix = f"{EXTENSIONS}/{name}"
        below = APIRouter(prefix=prefix, tags=[name], responses=failures())
        try:
            below.include_router(ROUTERS_ADDED.get(name))
        except Exception:
            logger.exception("the routes of an extension are off", extra={"router": name})
        yield below


def _analysts(settings: ServiceSettings) -> AnalystPool:
    roots, uploads = settings.folders
    context = {
        "store": settings.store,
        "roots": [str(root) for root in roots],
        "uploads": str(uploads),
    }
    limits = settings.limits
    return AnalystPool(context, size=settings.analysts, max_bytes=limits.analyst_bytes)


def _disk(settings: ServiceSettings, store: ServiceStore) -> DiskSpace:
    folders = {"uploads": settings.data}
    if store.database.is_sqlite:
        folders["database"] = Path(store.database.name).parent
    return DiskSpace(folders, min_bytes=settings.limits.free_bytes)


def _uploads(limits: RequestLimits) -> dict[str, int]:
    return {
        "/api/v2/benchmark-datasets": limits.files.upload_bytes + AROUND_A_FILE,
        "/api/v2/collections": limits.archive_bytes + AROUND_A_FILE,
    }


def describe(app: FastAPI) -> None:
    """Complete the OpenAPI description of *app*."""

    def schema() -> dict[str, Any]:
        if not app.openapi_schema:
            described = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            _, extra = models_json_schema(
                [(Event, "serialization")], ref_template="#/components/schemas/{model}"
            )
            schemas = described["components"]["schemas"]
            described["components"]["schemas"] = dict(sorted({**extra["$defs"], **schemas}.items()))
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]


def schema_text() -> str:
    """Return the schema of the API, from which clients and the types of the page are made."""
    settings = ServiceSettings(store="", data=Path())
    # The schema of the service itself, whatever is installed beside it.
    schema = create_app(settings, extensions=False).openapi()
    # The version would change the file with every release.
    schema["info"]["version"] = "2"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
