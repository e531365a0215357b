"""Spans of OpenTelemetry (OTLP as JSON) by the conventions for GenAI, and of OpenInference.

One trace is one transcript. Its calls are spans of tools, retrievals and rerankers; spans of chats
say what they used. Spans of agents repeat the sums of those inside, so they do not count.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

from karat.extensions.trace import reading
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import Call, Meter, Transcript, amount, first_known, total

Row = Mapping[str, Any]
KIND = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
CHATS = ("chat", "text_completion", "generate_content")
ID_KEYS = ("instance_id", "query.id", "task.id", "gen_ai.conversation.id", "session.id")
ASKED_KEYS = ("input.value", "gen_ai.retrieval.query.text")
DOCUMENT = re.compile(
    r"(?:retrieval\.documents|reranker\.output_documents)\.(\d+)\.document\.(\w+)"
)


class Span(NamedTuple):
    """A span with its attributes as plain values; times are in seconds."""

    trace: str
    start_s: float
    end_s: float
    name: str
    attributes: Mapping[str, Any]

    @property
    def what(self) -> str:
        """Return what the span is of: chat, tool, retrieval, or anything else."""
        kind = str(self.attributes.get(KIND) or "").upper()
        operation = str(self.attributes.get(OPERATION) or "")
        if kind in ("RETRIEVER", "RERANKER") or operation == "retrieval":
            return "retrieval"
        if kind == "TOOL" or operation == "execute_tool":
            return "tool"
        return "chat" if kind == "LLM" or operation in CHATS else ""


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file has spans."""
    return ".json" in path.name and (b'"resourceSpans"' in head or b'"resource_spans"' in head)


def read(path: Path) -> list[Transcript]:
    """Return a transcript for each trace that has a call."""
    traces: dict[str, list[Span]] = {}
    for span in _spans(path):
        traces.setdefault(span.trace, []).append(span)
    known = (_transcript(path, trace, spans) for trace, spans in traces.items())
    return [each for each in known if each.calls]


def _spans(path: Path) -> Iterator[Span]:
    text = reading.text_of_file(path)
    try:
        documents = [json.loads(text)]
    except ValueError:
        documents = list(reading.lines(path))
    for document in documents:
        for resource in document.get("resourceSpans") or document.get("resource_spans") or []:
            shared = _attributes((resource.get("resource") or {}).get("attributes"))
            for scope in resource.get("scopeSpans") or resource.get("scope_spans") or []:
                for span in scope.get("spans") or []:
                    yield _span(span, shared)


def _span(span: Row, shared: dict[str, Any]) -> Span:
    ends = (span.get("startTimeUnixNano"), span.get("endTimeUnixNano"))
    start, end = (amount(each) / 1e9 for each in ends)
    named = str(span.get("name") or "")
    return Span(
        str(span.get("traceId") or ""),
        start,
        end,
        named,
        shared | _attributes(span.get("attributes")),
    )


def _attributes(pairs: object) -> dict[str, Any]:
    if isinstance(pairs, Mapping):
        return dict(pairs)
    rows = pairs if isinstance(pairs, list) else []
    return {str(pair.get("key")): _value(pair.get("value")) for pair in rows}


def _value(value: object) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "arrayValue" in value:
        return [_value(each) for each in (value["arrayValue"] or {}).get("values") or []]
    if "kvlistValue" in value:
        return _attributes((value["kvlistValue"] or {}).get("values"))
    return next(iter(value.values()), None)


def _transcript(path: Path, trace: str, spans: Sequence[Span]) -> Transcript:
    meter = Meter()
    calls = []
    starts = [span.start_s for span in spans if not isnan(span.start_s)]
    meter.at(min(starts, default=nan))
    for span in sorted(spans, key=lambda span: (span.end_s, span.start_s)):
        at_s = meter.at(span.end_s)
        if span.what == "chat":
            meter.add(_tokens(span.attributes), amount(span.attributes.get("llm.cost.total")))
        elif span.what:
            make = _tool if span.what == "tool" else _retrieval
            calls.append(make(span)._replace(at_s=at_s, tokens=meter.tokens, cost=meter.cost))
    values = [span.attributes.get(key) for key in ID_KEYS for span in spans]
    first = sorted(spans, key=lambda span: span.start_s)
    asked = [span.attributes.get(key) for span in first for key in ASKED_KEYS]
    return Transcript(
        path,
        tuple(dict.fromkeys([*(str(each) for each in values if each), trace])),
        tuple(calls),
        next((each for each in asked if isinstance(each, str)), ""),
        "spans",
        seconds=meter.seconds,
        tokens=meter.tokens,
        cost=meter.cost,
    )


def _tokens(attributes: Mapping[str, Any]) -> float:
    names = ("input_tokens", "output_tokens")
    return first_known(
        total(*(attributes.get(f"gen_ai.usage.{name}") for name in names)),
        total(*(attributes.get(f"llm.token_count.{name}") for name in ("prompt", "completion"))),
        amount(attributes.get("llm.token_count.total")),
    )


def _tool(span: Span) -> Call:
    known = span.attributes
    name = known.get("gen_ai.tool.name") or known.get("tool.name") or span.name
    given = known.get("gen_ai.tool.call.arguments")
    given = given if given is not None else known.get("input.value") or known.get("tool.parameters")
    result = known.get("gen_ai.tool.call.result")
    result = result if result is not None else known.get("output.value")
    output = result if isinstance(result, str) else json.dumps(result) if result else ""
    return Call(str(name), reading.arguments_of(given), output)


def _retrieval(span: Span) -> Call:
    """Return a search; a document without its text counts as seen, because the model gets it."""
    known = span.attributes
    documents = known.get("gen_ai.retrieval.documents")
    if isinstance(documents, str):
        documents = json.loads(documents)
    rows = documents if isinstance(documents, list) else _numbered(known)
    query = known.get("gen_ai.retrieval.query.text") or known.get("input.value") or ""
    return reading.retrieved(
        "retrieval", str(query), [row for row in rows if isinstance(row, Mapping)]
    )


def _numbered(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of ``retrieval.documents.0.document.id`` and so on, in their order."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if match := DOCUMENT.fullmatch(key):
            row = rows.setdefault(int(match[1]), {})
            if match[2] == "metadata":
                row |= reading.arguments_of(value)
            else:
                row[match[2]] = value
    return [rows[number] for number in sorted(rows)]


READER = TranscriptReader(
    "spans",
    "traces of OpenTelemetry (OTLP JSON) with spans of GenAI or OpenInference",
    detect,
    read,
)
