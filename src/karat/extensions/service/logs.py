"""The log as JSON lines with the correlation id of a request, and tracing."""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO
from uuid import uuid4

from opentelemetry.trace import get_current_span
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.installation import __version__

HEADER = "X-Correlation-ID"
# Its name in the span of a request or a job.
ATTRIBUTE = "karat.correlation_id"
# An id from a client is accepted only if it cannot be confused with anything else in a log.
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

_current: ContextVar[str] = ContextVar("correlation_id", default="")


def correlation_id() -> str:
    """Return the id of the request that is answered now, or has begun this, "" outside of any."""
    return _current.get()


@contextmanager
def correlated(chosen: str) -> Iterator[None]:
    """Run the block with the correlation id *chosen*.

    >>> with correlated("a1"):
    ...     correlation_id()
    'a1'
    """
    reset = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(reset)


class Correlation:
    """Gives each request its correlation id: the client's own if that is a plain word."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap *app*."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the id."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        chosen = given if SAFE.fullmatch(given) else uuid4().hex

        async def with_header(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message)[HEADER] = chosen
            await send(message)

        get_current_span().set_attribute(ATTRIBUTE, chosen)
        with correlated(chosen):
            await self.app(scope, receive, with_header)


# A token of Karat; a password in a URL; the value of a header or an option with such a name.
SECRETS = (
    (re.compile(r"karat_[A-Za-z0-9_-]{8,}"), "karat_[hidden]"),
    (re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]+(?=@)"), r"\1:[hidden]"),
    (
        re.compile(
            r"(?i)\b(authorization|cookie|password|secret|token|api[_-]?key)"
            r"(['\"]?\s*[:=]\s*['\"]?)(?:bearer\s+)?[^\s'\",;&]+"
        ),
        r"\1\2[hidden]",
    ),
)
KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def redacted(text: str) -> str:
    """Return *text* without secrets.

    >>> redacted("Authorization: Bearer abc123; postgresql://me:pass@host/db")
    'Authorization: [hidden]; postgresql://me:[hidden]@host/db'
    """
    for pattern, instead in SECRETS:
        text = pattern.sub(instead, text)
    return text


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, with the fields of ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if asked := correlation_id():
            line["correlation_id"] = asked
        line |= {name: value for name, value in vars(record).items() if name not in KNOWN}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redacted(json.dumps(line, ensure_ascii=False, default=str))


def start_log(stream: TextIO = sys.stderr, *, level: int = logging.INFO) -> None:
    """Send all log records to *stream*, in place of other handlers."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


# The standard variables of OpenTelemetry for the address of a collector.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start_tracing() -> bool:
    """Send spans to the collector that the environment names; return whether there is one."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return False
    from opentelemetry import trace

    resource = Resource.create({"service.name": "karat", "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[None]:
    """Run the block in a span; without a collector this costs nothing.

    It has the correlation id of the request that caused it, if there is one.

    >>> with span("run", k=10):
    ...     pass
    """
    from opentelemetry import trace

    named = {f"karat.{key}": value for key, value in attributes.items()}
    if asked := correlation_id():
        named[ATTRIBUTE] = asked
    with trace.get_tracer("karat").start_as_current_span(name, attributes=named):
        yield
