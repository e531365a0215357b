"""The schema of the API, with what is sent over streams, which no route returns as a whole."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from karat.server.schemas.events import Event

__all__ = ["describe"]


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
