"""Logs of Inspect with the calls of tools: ``.eval`` archives and ``.json``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import FormatError, Problem
from karat.extensions.trace import reading
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import (
    Call,
    Meter,
    Transcript,
    amount,
    first_known,
    seconds_of,
    text_of,
    total,
)
from karat.system.zstd import member

Row = Mapping[str, Any]
USAGE = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens")
ATTACHMENT = "attachment://"


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file is an archive of Inspect, or its JSON."""
    if path.name.endswith(".eval"):
        return head.startswith(b"PK")
    return path.name.endswith(".json") and b'"eval"' in head and b'"task"' in head


def read(path: Path) -> list[Transcript]:
    """Return a transcript for each sample and epoch."""
    return [_transcript(path, sample) for sample in _samples(path)]


def _samples(path: Path) -> Iterator[Row]:
    if not path.name.endswith(".eval"):
        document = reading.document(path)
        yield from (document.get("samples") or []) if isinstance(document, Mapping) else ()
        return
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    yield json.loads(member(archive, info, path))
    except (BadZipFile, ValueError) as error:
        raise FormatError([Problem(str(path), 0, f"not a log of Inspect: {error}")]) from error


def _transcript(path: Path, sample: Row) -> Transcript:
    texts = sample.get("attachments") or {}
    meter = Meter()
    events = sample.get("events") or []
    if any(event.get("event") == "tool" for event in events):
        calls = tuple(_of_events(events, meter, texts))
    else:
        calls = tuple(_of_messages(sample.get("messages") or [], texts))
    used = [
        total(*(usage.get(name) for name in USAGE))
        for usage in (sample.get("model_usage") or {}).values()
    ]
    metadata = sample.get("metadata") or {}
    asked = sample.get("input")
    if isinstance(asked, list):
        asked = next((row.get("content") for row in asked if row.get("role") == "user"), "")
    return Transcript(
        path,
        tuple(str(each) for each in (metadata.get("instance_id"), sample.get("id")) if each),
        calls,
        _resolved(text_of(asked), texts),
        "inspect",
        seconds=first_known(meter.seconds, amount(sample.get("total_time"))),
        tokens=first_known(meter.tokens, total(*used)),
        cost=meter.cost,
    )


def _of_events(events: Sequence[Row], meter: Meter, texts: Mapping[str, str]) -> Iterator[Call]:
    for event in events:
        when = meter.at(seconds_of(event.get("completed") or event.get("timestamp")))
        if event.get("event") == "model" and event.get("cache") != "read":
            usage = (event.get("output") or {}).get("usage") or {}
            meter.add(total(*(usage.get(name) for name in USAGE)), amount(usage.get("total_cost")))
        elif event.get("event") == "tool":
            yield Call(
                str(event.get("function") or ""),
                reading.arguments_of(event.get("arguments")),
                _resolved(text_of(event.get("result")), texts),
                failed=bool(event.get("error")),
                at_s=when,
                tokens=meter.tokens,
                cost=meter.cost,
            )


def _of_messages(messages: Sequence[Row], texts: Mapping[str, str]) -> Iterator[Call]:
    answers = {row.get("tool_call_id"): row for row in messages if row.get("role") == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or []:
            answer = answers.get(call.get("id"), {})
            yield Call(
                str(call.get("function") or ""),
                reading.arguments_of(call.get("arguments")),
                _resolved(text_of(answer.get("content")), texts),
                failed=bool(answer.get("error")),
            )


def _resolved(text: str, texts: Mapping[str, str]) -> str:
    """Return a text that the log has in one place for several messages."""
    return texts.get(text.removeprefix(ATTACHMENT), text) if text.startswith(ATTACHMENT) else text


READER = TranscriptReader("inspect", "logs of Inspect (.eval, .json)", detect, read)
