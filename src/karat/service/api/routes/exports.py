"""What leaves the service as a file: the report and the scores, sent from disk piece by piece."""

import os
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from karat.service.api.failures import failures
from karat.service.api.state import Service, Serving
from karat.service.api.versioned import NOT_MODIFIED, Found, VersionedBenchmark

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/benchmarks/{benchmark_id}", tags=["results"])

# The script and the style of a report are in it. It is shown as if it came from nowhere, so that
# it can ask us nothing.
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
async def get_report(serving: Serving, found: Found) -> Response:
    """Return the report as one file that needs nothing else."""
    policy = {"Content-Security-Policy": REPORT_POLICY}
    return await _drawn(serving, found, ".html", **policy)


@router.get("/export.csv", response_class=Response, responses=_described(".csv"))
async def export_csv(serving: Serving, found: Found) -> Response:
    """Return the scores of all runs and queries as a table."""
    return await _drawn(serving, found, ".csv")


@router.get("/export.json", response_class=Response, responses=_described(".json"))
async def export_json(serving: Serving, found: Found) -> Response:
    """Return everything that a report shows, for machines."""
    return await _drawn(serving, found, ".json")


async def _drawn(
    serving: Service, found: VersionedBenchmark, suffix: str, **headers: str
) -> Response:
    if found.is_seen:
        return found.unchanged
    handle, path = mkstemp(prefix="karat-export-", suffix=suffix)
    os.close(handle)
    try:
        await serving.analyst.ask("draw", benchmark=found.benchmark.id, path=path)
    except BaseException:
        Path(path).unlink()
        raise
    return _SentOnce(path, media_type=TYPES[suffix], headers={**found.headers, **headers})


class _SentOnce(FileResponse):
    """A file that goes when it was sent, or could not be: to who asks for a part that it lacks."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            Path(self.path).unlink()
