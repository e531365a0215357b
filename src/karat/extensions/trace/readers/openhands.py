"""Events of OpenHands: ``output.jsonl`` with a ``history`` for each instance, or a list of events.

An observation names the action that caused it; one answer of the model is in several events.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

Row = Mapping[str, Any]
# The tools of actions; others keep their names. An action that says something is no call.
TOOLS = {
    "run": "bash",
    "run_ipython": "ipython",
    "browse_interactive": "browse",
    "task_tracking": "task_tracker",
}
SAID = frozenset(("message", "system", "null", "change_agent_state", "recall", "condensation"))


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file has events of OpenHands."""
    if not path.name.endswith((".json", ".jsonl")):
        return False
    has_events = b'"action"' in head and b'"source"' in head and b'"args"' in head
    return has_events and (b'"history"' in head or head.lstrip().startswith(b"["))


def read(path: Path) -> list[Transcript]:
    """Return a transcript for each instance."""
    if path.name.endswith(".jsonl"):
        return [_transcript(path, row, row.get("history") or []) for row in reading.lines(path)]
    document = reading.document(path)
    if isinstance(document, Mapping):
        return [_transcript(path, document, document.get("history") or [])]
    return [_transcript(path, {}, document)]


def _transcript(path: Path, row: Row, history: Sequence[Any]) -> Transcript:
    events = list(_flat(history))
    meter = Meter()
    calls = tuple(_calls(events, meter))
    said = (event for event in events if event.get("source") == "user")
    asked = str(row.get("instruction") or next(map(_message, said), ""))
    metrics = row.get("metrics") or {}
    named = () if row.get("instance_id") else reading.names_of(path)
    return Transcript(
        path,
        tuple(filter(None, (str(row.get("instance_id") or ""), *named))),
        calls,
        asked,
        "openhands",
        seconds=meter.seconds,
        tokens=meter.tokens,
        cost=first_known(meter.cost, amount(metrics.get("accumulated_cost"))),
    )


def _flat(history: Sequence[Any]) -> Iterator[Row]:
    """Yield the events; older files have pairs of an action and its observation."""
    for event in history:
        if isinstance(event, Mapping):
            yield event
        elif isinstance(event, list | tuple):
            yield from _flat(event)


def _message(event: Row) -> str:
    return text_of((event.get("args") or {}).get("content") or event.get("message"))


def _calls(events: Sequence[Row], meter: Meter) -> Iterator[Call]:
    answers: dict[object, Row] = {}
    for event in events:
        if "observation" in event:
            answers.setdefault(event.get("cause"), event)
    billed: set[str] = set()
    folder = ""
    for event in events:
        when = meter.at(seconds_of(event.get("timestamp")))
        _bill(event, meter, billed)
        action = event.get("action")
        if not action or action in SAID or event.get("source") != "agent":
            continue
        answer = answers.get(event.get("id"), {})
        extras = answer.get("extras") or {}
        tool, arguments = _tool(event)
        yield Call(
            tool,
            arguments,
            text_of(answer.get("content")),
            failed=answer.get("observation") == "error",
            folder=folder,
            at_s=first_known(meter.at(seconds_of(answer.get("timestamp"))), when),
            tokens=meter.tokens,
            cost=meter.cost,
        )
        metadata = extras.get("metadata") or {}
        folder = str(metadata.get("working_dir") or folder)


def _tool(event: Row) -> tuple[str, Row]:
    action, arguments = str(event["action"]), event.get("args") or {}
    if action == "call_tool_mcp":
        return str(arguments.get("name") or ""), arguments.get("arguments") or {}
    if action == "edit" and arguments.get("command") == "view":
        return "read", arguments
    if action == "read" and not arguments.get("view_range"):
        first, last = arguments.get("start") or 0, arguments.get("end") or -1
        lines = {"view_range": [first + 1, last]} if first or last > 0 else {}
        return "read", {"path": arguments.get("path"), **lines}
    return TOOLS.get(action, action), arguments


def _bill(event: Row, meter: Meter, billed: set[str]) -> None:
    """Add what the answer of the model used that made *event*, once for several events."""
    response = (event.get("tool_call_metadata") or {}).get("model_response") or {}
    key = str(response.get("id") or "")
    if not key or key in billed:
        return
    billed.add(key)
    usage = response.get("usage") or {}
    meter.add(total(usage.get("prompt_tokens"), usage.get("completion_tokens")))


READER = TranscriptReader("openhands", "events of OpenHands: output.jsonl, or a list", detect, read)
