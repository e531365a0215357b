"""The schema of the API, with what is sent over streams, which no route returns as a whole."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from karat.server.schemas import analysis, benchmarks, events, judgments, results

__all__ = ["describe"]

STREAMED = (
    events.Event,
    benchmarks.BenchmarkCreate,
    benchmarks.Benchmarks,
    benchmarks.Started,
    benchmarks.Preview,
    benchmarks.PreviewRequest,
    benchmarks.AnnotationCreate,
    results.Results,
    results.QueryResults,
    results.Drilldown,
    results.Trend,
    analysis.Comparison,
    analysis.ScoreMatrix,
    analysis.Slices,
    analysis.Curves,
    analysis.TwoSides,
    judgments.JudgmentEdit,
    judgments.Judgments,
    judgments.JudgmentHistory,
    judgments.Unjudged,
)


def describe(app: FastAPI) -> None:
    """Let *app* describe itself whole."""

    def schema() -> dict[str, Any]:
        if not app.openapi_schema:
            found = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            _, extra = models_json_schema(
                [(model, "serialization") for model in STREAMED],
                ref_template="#/components/schemas/{model}",
            )
            known = found["components"]["schemas"]
            found["components"]["schemas"] = dict(sorted({**extra["$defs"], **known}.items()))
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]
