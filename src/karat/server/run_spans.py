"""The runs of a benchmark and their queries as spans, by what the runner tells of them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from time import time_ns
from typing import TYPE_CHECKING, Self

from karat.runner import Event

if TYPE_CHECKING:
    from opentelemetry.trace import Span

__all__ = ["RunSpans"]

NS_PER_MS = 1_000_000
# How a run or a query may end that is nobody's fault.
FINE = frozenset({"answered", "completed", "cancelled"})


class RunSpans(AbstractContextManager["RunSpans"]):
    """Begins a span with each pass over a run, and puts one into it for each query that ends.

    *engines* are the names of the engines by run. No span holds a text: neither a query nor a hit.
    """

    def __init__(self, engines: Mapping[str, str]) -> None:
        """Know the runs; no span is begun."""
        from opentelemetry import trace

        self._engines = engines
        self._tracer = trace.get_tracer("karat")
        self._open: dict[str, Span] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for left in self._open.values():
            left.end()
        self._open.clear()

    def heard(self, event: Event) -> None:
        """Take notice of what happened to a query or a run."""
        if event.kind == "started":
            self._open[event.run] = self._tracer.start_span(
                "run", attributes=self._about(event, **event.detail)
            )
        elif event.kind == "answered" and event.run in self._open:
            self._answered(event)
        elif event.kind == "finished" and event.run in self._open:
            _end(self._open.pop(event.run), str(event.detail["status"]), time_ns())

    def _answered(self, event: Event) -> None:
        from opentelemetry.trace import set_span_in_context

        latency_ns, ended = event.detail["latency_ns"], time_ns()
        about = {"query_id": event.detail["query_id"]}
        spent = 0
        if isinstance(latency_ns, int) and latency_ns >= 0:
            spent = latency_ns
            about["latency_ms"] = latency_ns / NS_PER_MS
        query = self._tracer.start_span(
            "query",
            context=set_span_in_context(self._open[event.run]),
            attributes=self._about(event, **about),
            start_time=ended - spent,
        )
        _end(query, str(event.detail["outcome"]), ended)

    def _about(self, event: Event, **more: object) -> dict[str, str | float]:
        named = {"run": event.run, "engine": self._engines[event.run], **more}
        return {
            f"karat.{key}": value if isinstance(value, float) else str(value)
            for key, value in named.items()
        }


def _end(span: "Span", status: str, when: int) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("karat.status", status)
    if status not in FINE:
        span.set_status(Status(StatusCode.ERROR))
    span.end(when)
