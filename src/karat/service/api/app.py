"""The service as one ASGI application."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool

from karat.installation import __version__
from karat.service.api.auth import Auth
from karat.service.api.failures import install
from karat.service.api.middleware import BodyCap, Guard, RequestObserver
from karat.service.api.pages import router as pages
from karat.service.api.routes import (
    benchmarks,
    collections,
    datasets,
    events,
    judgments,
    results,
    system,
)
from karat.service.api.schemas.events import Event
from karat.service.api.state import Service
from karat.service.collections import SearcherCache
from karat.service.events import EventBus
from karat.service.jobs.statistics import StatisticsProcess
from karat.service.logs import Correlation
from karat.service.metrics import RunMetrics, ServiceMetrics
from karat.service.settings import RequestLimits, ServiceSettings
from karat.service.store import ServiceStore

__all__ = ["create_app", "describe"]

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
    system.engines_router,
    events.router,
    results.router,
    results.comparing_router,
    judgments.router,
    system.search_router,
    pages,
)


def create_app(settings: ServiceSettings) -> FastAPI:
    """Return the service; its store is opened when it starts and closed when it stops."""
    metrics = ServiceMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = await run_in_threadpool(ServiceStore, settings.store)
        counted = RunMetrics(store, metrics)
        event_bus, searchers = (
            EventBus(store.events, on_event=counted),
            SearcherCache(settings.places),
        )
        statistics, judging = StatisticsProcess(settings.store), StatisticsProcess(settings.store)
        app.state.service = Service(
            settings, store, metrics, searchers, event_bus, statistics, judging
        )
        reading = asyncio.create_task(event_bus.run())
        try:
            yield
        finally:
            event_bus.close()
            await reading
            counted.close()
            await run_in_threadpool(statistics.close)
            await run_in_threadpool(judging.close)
            store.close()

    app = FastAPI(
        title="Karat",
        version=__version__,
        summary="Measures how good a search is",
        lifespan=lifespan,
        # All at one level, so that code that walks the routes sees every one of them.
        routes=[route for router in ROUTERS for route in router.routes],
        openapi_url="/api/v2/openapi.json",
        docs_url=None,  # They load scripts from elsewhere.
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


def _uploads(limits: RequestLimits) -> dict[str, int]:
    return {
        "/api/v2/benchmark-datasets": limits.files.upload_bytes + AROUND_A_FILE,
        "/api/v2/collections": limits.archive_bytes + AROUND_A_FILE,
    }


def describe(app: FastAPI) -> None:
    """Let *app* describe itself whole."""

    def schema() -> dict[str, Any]:
        if not app.openapi_schema:
            found = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            _, extra = models_json_schema(
                [(Event, "serialization")], ref_template="#/components/schemas/{model}"
            )
            known = found["components"]["schemas"]
            found["components"]["schemas"] = dict(sorted({**extra["$defs"], **known}.items()))
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]
