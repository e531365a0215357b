"""Each request is timed and logged, and one that breaks is answered all the same."""

import logging
from time import perf_counter

from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.server.failures import failure
from karat.server.metrics import Metrics

__all__ = ["Observed"]

access = logging.getLogger("karat.access")
logger = logging.getLogger("karat.server")

# A client may make up as many others as it likes, and each would be a new series.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Observed:
    """Counts requests by route; the log has method, route, status and time of each, no query."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        """Count in *metrics*."""
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and write down how that went."""
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
        except Exception:
            logger.exception("request broke")
            if status:
                raise
            detail = "The service broke while answering; its log knows why"
            await failure(500, detail)(scope, receive, noted)
        finally:
            spent = perf_counter() - begun
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = _route(scope)
            self.metrics.requests.labels(method, route, str(status)).observe(spent)
            facts = {"method": method, "route": route, "status": status}
            access.info("request", extra={**facts, "ms": round(spent * 1e3, 1)})


def _route(scope: Scope) -> str:
    """Return the path with its parameters unnamed, so that ids make no new series."""
    route = scope.get("route")
    if route is None:
        app = scope.get("app")
        for candidate in getattr(app, "routes", ()):
            if candidate.matches(scope)[0] is Match.FULL:
                route = candidate
                break
    return str(getattr(route, "path", "")) or "unknown"
