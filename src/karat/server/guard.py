"""Requests that another web page made a browser send are turned away, and no page may frame ours.

A service on the loopback is reached by every page that its user visits. What tells them apart:
the name that they call us by (a page whose own name was pointed at this machine calls us by that),
where a browser says that the request comes from, and whether it says that this is another site.
"""

import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.server.failures import refuse

__all__ = ["Guard"]

logger = logging.getLogger("karat.server")

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
    """Refuses unknown hosts (421) and requests of other sites (403)."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        """Let in only requests that call us by one of *hosts*."""
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say why not."""
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
            status, detail = 421, "This service does not go by that name; see --allowed-host"
        elif self._is_foreign(scope, headers):
            status, detail = 403, "Another site may not ask this service"
        if detail:
            logger.warning("turned away", extra={"status": status, "reason": detail})
            await refuse(scope, receive, with_headers, status=status, detail=detail)
        else:
            await self.app(scope, receive, with_headers)

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        site = headers.get("sec-fetch-site")
        # A link on another page may lead here; nothing else of another page may.
        followed = scope.get("method") in READING and headers.get("sec-fetch-mode") == "navigate"
        if site is not None and site not in SAME and not followed:
            return True
        origin = headers.get("origin")
        return origin is not None and _place(origin) != headers.get("host", "").lower()


def _place(origin: str) -> str:
    """Return the host and the port that *origin* names; "" where it is no address.

    >>> _place("https://Karat.example:8080"), _place("null"), _place("http://[")
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
