"""Traces for OpenTelemetry, where the extra is installed and a collector is named."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from karat.installation import __version__
from karat.service.observability.correlation import ATTRIBUTE, correlation_id

__all__ = ["span", "start_tracing"]

# How every program that speaks OpenTelemetry is told where its collector is.
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
    """Do what follows within a span; it costs nothing where nobody listens.

    It has the id of the request that has begun all this, where there is one.

    >>> with span("run", k=10):
    ...     pass
    """
    from opentelemetry import trace

    named = {f"karat.{key}": value for key, value in attributes.items()}
    if asked := correlation_id():
        named[ATTRIBUTE] = asked
    with trace.get_tracer("karat").start_as_current_span(name, attributes=named):
        yield
