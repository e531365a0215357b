"""Middleware: body limits, cross-site requests, and the log line of every request."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from time import monotonic, perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.extensions.service.api.auth import is_static
from karat.extensions.service.api.failures import failure, full_disk, refuse
from karat.extensions.service.metrics import ServiceMetrics

# The minimum rate of a body: a client that sends a byte now and then would block a connection
# forever.
BYTES_PER_S = 16 * 1024
CLOSED = {"Connection": "close"}


class BodyCap:
    """Answers 413 to a body above the limit, and 408 to one that is too slow."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int,
        uploads: Mapping[str, int],
        patience_s: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Accept *most* bytes, or of a form as many as *uploads* says for a path.

        A form is written to disk as it arrives; any other body is read into memory. The body
        must arrive within *patience_s*, and within more time the more was sent.
        """
        self.app = app
        self.most = most
        self.uploads = uploads
        self.patience_s = patience_s
        self.clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer while counting the bytes received."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_form = headers.get("content-type", "").startswith("multipart/form-data")
        most = self.uploads.get(scope["path"].rstrip("/"), self.most) if is_form else self.most
        detail = f"The body is larger than {most:,} bytes"
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            await refuse(scope, receive, send, status=413, detail=detail, **CLOSED)
            return
        taken, waited_s, comes = 0, 0.0, True

        async def counted() -> Message:
            nonlocal taken, waited_s, comes
            if not comes:
                # The body is complete: waiting for a disconnect has no time limit.
                return await receive()
            begun = self.clock()
            message = await _in_time(receive, self.patience_s + taken / BYTES_PER_S - waited_s)
            waited_s += self.clock() - begun
            taken += len(message.get("body", b""))
            comes = message.get("more_body", False)
            if taken > most:
                raise HTTPException(413, detail, CLOSED)
            return message

        await self.app(scope, counted, send)


async def _in_time(receive: Receive, left_s: float) -> Message:
    """Return the next message; TimeoutError after *left_s*."""
    try:
        if left_s <= 0:
            raise TimeoutError
        async with asyncio.timeout(left_s):
            return await receive()
    except TimeoutError:
        raise HTTPException(408, "The body did not come in time", CLOSED) from None


logger = logging.getLogger("karat.service")

# Below it, and below their names, extensions have their routes.
EXTENSIONS = "/api/extensions"

READING = frozenset({"GET", "HEAD", "OPTIONS"})
SAME = frozenset({"same-origin", "none"})
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Guard:
    """Rejects unknown hosts (421) and cross-site requests (403)."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        """Accept only requests whose Host header is one of *hosts*."""
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        status, detail = 200, ""
        if _name(headers.get("host", "")) not in self.hosts:
            status, detail = 421, "Unknown host name; karat serve --allowed-host allows it"
        elif not is_static(scope) and self._is_foreign(scope, headers):
            status, detail = 403, _foreign(headers)
        if detail:
            logger.warning("request rejected", extra={"status": status, "reason": detail})
            await refuse(scope, receive, with_headers, status=status, detail=detail)
        else:
            await self.app(scope, receive, with_headers)

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        site = headers.get("sec-fetch-site")
        # Links on other sites may lead here; all other cross-site requests are rejected.
        followed = scope.get("method") in READING and headers.get("sec-fetch-mode") == "navigate"
        if site is not None and site not in SAME and not followed:
            return True
        origin = headers.get("origin")
        return origin is not None and _address(origin) != headers.get("host", "").lower()


def _foreign(headers: Headers) -> str:
    """Return why a request is rejected; what looks like a proxy's mistake comes with its fix."""
    host = headers.get("host", "").lower()
    origin = _address(headers.get("origin", ""))
    if origin and origin != host and _name(origin) == _name(host):
        return (
            f"The browser sent this request to {origin}, but it arrived for {host}: the proxy must "
            "forward Host with its port (nginx: proxy_set_header Host $http_host)"
        )
    return "Requests from other sites are not allowed"


def _address(origin: str) -> str:
    """Return the host and the port that *origin* names; "" if it is not an address.

    >>> _address("https://Karat.example:8080"), _address("null"), _address("http://[")
    ('karat.example:8080', '', '')
    """
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name(host: str) -> str:
    """Return *host* without its port.

    >>> _name("localhost:8080"), _name("[::1]:8080"), _name("Karat.example")
    ('localhost', '[::1]', 'karat.example')
    """
    name, _, rest = host.lower().partition("]")
    return f"{name}]" if name.startswith("[") else (name + rest).partition(":")[0]


access = logging.getLogger("karat.access")

# A client may send any other method, and each would be a new time series.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestObserver:
    """Counts requests by route; the log has method, route, status and time of each, no query."""

    def __init__(self, app: ASGIApp, *, metrics: ServiceMetrics) -> None:
        """Count in *metrics*."""
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, then count and log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        begun = perf_counter()
        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            logger.exception("request failed")
            if status:
                raise
            detail = "Internal error; the log of the service has the details"
            answer = full_disk(scope["app"], error) or failure(500, detail)
            await answer(scope, receive, noted)
        finally:
            spent = perf_counter() - begun
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = _route(scope)
            self.metrics.requests.labels(method, route, str(status)).observe(spent)
            facts = {"method": method, "route": route, "status": status}
            access.info("request", extra={**facts, "ms": round(spent * 1e3, 1)})


def _route(scope: Scope) -> str:
    """Return the path template, so that ids do not create new time series."""
    route = scope.get("route")
    if route is None:
        app = scope.get("app")
        for candidate in getattr(app, "routes", ()):
            if candidate.matches(scope)[0] is Match.FULL:
                route = candidate
                break
    path = str(getattr(route, "path", ""))
    if path and scope["path"].startswith(f"{EXTENSIONS}/"):
        # The router of an extension does not know where it is mounted.
        path = "/".join(scope["path"].split("/")[: EXTENSIONS.count("/") + 2]) + path
    return path or "unknown"
