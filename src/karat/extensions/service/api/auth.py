"""Authentication: every request needs a valid token with the right scope.

It wraps the whole application, so that a new route needs a token unless it is opened here.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from hmac import compare_digest
from math import ceil
from threading import Lock
from time import monotonic

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from karat.errors import StoreUnavailable
from karat.extensions.service.api.failures import RETRY, refuse
from karat.extensions.service.api.state import LOCAL, Caller, Service
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store.service import SCOPES, digest_of

logger = logging.getLogger("karat.service")

MOST_BUCKETS = 10_000


class Rates:
    """A token bucket per name: *per_minute* requests per minute, and that many at once.

    >>> rates = Rates(per_minute=60, clock=iter([0.0, 0.0, 0.5]).__next__, burst=1)
    >>> rates.wait_s("a"), rates.wait_s("a"), rates.wait_s("a")
    (0.0, 1.0, 0.5)
    """

    def __init__(
        self, *, per_minute: int, burst: int | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        """Start with full buckets."""
        self._per_second = per_minute / 60
        self._burst = float(burst or per_minute)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def wait_s(self, name: str) -> float:
        """Count a request of *name*; return 0, or the seconds until the next one is allowed."""
        with self._lock:
            now = self._clock()
            # Invented names evict the oldest bucket, which is full again by then.
            left, since = self._buckets.pop(name, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._per_second)
            allowed = left >= 1
            self._buckets[name] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
            return 0.0 if allowed else (1 - left) / self._per_second


COOKIE = "karat_session"
UNAUTHENTICATED = "A token is needed: karat token create OWNER"
# Liveness is not secret. The web page is the same for all users and holds no data.
OPEN = frozenset({"/healthz", "/readyz"})
STATIC = frozenset({"/", "/favicon.svg"})
STATIC_BELOW = ("/app/", "/assets/")
READING = frozenset({"GET", "HEAD", "OPTIONS"})
# A read-only token needs it for the web page.
SESSION = "/api/v2/session"


def is_open(path: str) -> bool:
    """Return whether *path* needs no token."""
    return path in OPEN or _is_page(path)


def is_static(scope: Scope) -> bool:
    """Return whether a request reads a file of the page, which holds no data.

    The page explains what is wrong with a proxy; without its script and style it would be blank.
    """
    return scope.get("method") in READING and _is_page(scope["path"])


def _is_page(path: str) -> bool:
    return path in STATIC or (path.startswith(STATIC_BELOW) and ".." not in path)


class Auth:
    """Rejects requests without a valid token (401), without the scope (403) or too often (429)."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServiceSettings,
        rates: Rates | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Require tokens where *settings* say so."""
        self.app = app
        self.settings = settings
        self.rates = rates or Rates(per_minute=settings.limits.rate)
        self.clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an authenticated request on."""
        if scope["type"] not in ("http", "websocket") or is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = _bearer(headers)
        secret = given or cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        try:
            caller = await self._caller(scope, secret)
        except StoreUnavailable as error:
            logger.warning("tokens cannot be read: %s", error)
            after = {name.replace("-", "_"): value for name, value in RETRY.items()}
            await refuse(scope, receive, send, status=503, detail=str(error), **after)
            return
        if caller is None and not given and not self.settings.needs_tokens:
            # Browsers send cookies to every port, also that of another service on this machine.
            caller = Caller(LOCAL, SCOPES)
        if wait := self._wait(scope, caller):
            detail = "Too many requests; wait a moment"
            after = {"Retry_After": str(ceil(wait))}
            await refuse(scope, receive, send, status=429, detail=detail, **after)
        elif caller is None:
            detail = "The token is not valid" if secret else UNAUTHENTICATED
            challenge = {"WWW_Authenticate": "Bearer"}
            await refuse(scope, receive, send, status=401, detail=detail, **challenge)
        elif (needed := _needed_scope(scope)) not in caller.scopes:
            detail = f"The token does not allow this; expected one with the scope {needed}"
            await refuse(scope, receive, send, status=403, detail=detail)
        else:
            scope.setdefault("state", {})["caller"] = caller
            await self.app(scope, receive, send)

    async def _caller(self, scope: Scope, secret: str) -> Caller | None:
        if secret:
            service: Service = scope["app"].state.service
            digest = digest_of(secret)
            token = await run_in_threadpool(service.store.tokens.find, digest)
            if token and compare_digest(token.digest, digest) and token.valid(self.clock()):
                return Caller(token.owner, token.scopes, token.id, service.shared)
        return None

    def _wait(self, scope: Scope, caller: Caller | None) -> float:
        if caller and not caller.token:
            return 0.0
        address = scope.get("client") or ("unknown",)
        return self.rates.wait_s(caller.token if caller else f"address {address[0]}")


def _bearer(headers: Headers) -> str:
    """Return the token in the header of a request; that of a web page is in its cookie."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _needed_scope(scope: Scope) -> str:
    """Return the scope that a request needs: GET needs read, everything else run."""
    reads = scope.get("method", "GET") in READING or scope["path"] == SESSION
    return "read" if reads else "run"
