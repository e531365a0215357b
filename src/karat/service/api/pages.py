"""The web page: static files without user data, built ahead from `ui/`.

Every address below `/app/` is the one page, which reads from its address what to show.
"""

import gzip
import mimetypes
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

__all__ = ["STATIC", "router"]

STATIC = Path(__file__).with_name("static")
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
    found = {}
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            packed = gzip.compress(content, mtime=0)
            found[path.relative_to(STATIC).as_posix()] = StaticFile(content, packed, kind)
    return found


@router.get("/")
async def start() -> Response:
    """Lead to the page."""
    return RedirectResponse("/app/")


@router.get("/app/{path:path}")
async def page(request: Request) -> Response:
    """Return the page, whatever it is to show."""
    return _answer(request, "index.html", cache_control="no-cache")


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    """Return a script or a style of the page."""
    return _answer(request, f"assets/{name}", cache_control=FOREVER)


@router.get("/favicon.svg")
async def icon(request: Request) -> Response:
    """Return the sign of the page."""
    return _answer(request, "favicon.svg", cache_control="no-cache")


def _answer(request: Request, name: str, *, cache_control: str) -> Response:
    found = built().get(name)
    if found is None:
        raise HTTPException(404, f"The web page has no file {name}")
    headers = {
        "Cache-Control": cache_control,
        "Content-Security-Policy": POLICY,
        "Vary": "Accept-Encoding",
    }
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(found.content, media_type=found.type, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(found.packed, media_type=found.type, headers=headers)
