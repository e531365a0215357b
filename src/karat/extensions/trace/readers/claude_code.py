"""Sessions of Claude Code: JSON lines, with files of sub-agents beside them.

A line that is replayed has the ``uuid`` of the first one. A message of the model is split over
several lines that repeat its usage, which grows: the last one counts. Sub-agents are side chains in
the same file, or files in ``<session>/subagents/``; background agents report their tokens in a
notification.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.extensions.trace import reading
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import (
    Call,
    Meter,
    Transcript,
    first_known,
    seconds_of,
    text_of,
    total,
)

TYPES = re.compile(
    rb'"type"\s*:\s*"(?:user|assistant|system|summary|file-history-snapshot|queue-operation|'
    rb'permission-mode|attachment|progress|ai-title|mode|last-prompt)"'
)
INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
NOTIFICATION = re.compile(r"<task-notification>(.*?)</task-notification>", re.DOTALL)
TAGGED = re.compile(r"<(?P<tag>[\w-]+)>\s*(?P<value>[^<]*?)\s*</(?P=tag)>")


def detect(path: Path, head: bytes) -> bool:
    """Return whether the lines are those of a session."""
    if not path.name.removesuffix(".gz").endswith(".jsonl") or not TYPES.search(head):
        return False
    return b'"sessionId"' in head and (b'"uuid"' in head or b'"parentUuid"' in head)


def read(path: Path) -> list[Transcript]:
    """Return the transcript of the session in *path*, with those of its sub-agents."""
    parts = sorted((path.parent / path.name.partition(".")[0] / "subagents").rglob("*.jsonl"))
    rows = _unique(row for file in (path, *parts) for row in reading.lines(file))
    rows.sort(key=_stamp)
    session = _Session(rows)
    main = [row for row in rows if row.get("type") == "user" and not row.get("isSidechain")]
    asked = next((text for row in main if (text := _prompt(row))), "")
    known = next((row for row in rows if row.get("cwd")), {})
    ids = {str(row["sessionId"]): None for row in rows if row.get("sessionId")}
    return [
        Transcript(
            path,
            tuple(dict.fromkeys([*ids, *reading.names_of(path)])),
            tuple(session.calls),
            asked,
            "claude-code",
            folder=str(known.get("cwd") or ""),
            seconds=session.meter.seconds,
            tokens=session.meter.tokens,
            parts=tuple(parts),
        )
    ]


def _unique(rows: Iterator[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of each ``uuid`` once: a resumed session repeats earlier ones."""
    seen: set[str] = set()
    unique = []
    for row in rows:
        uuid = row.get("uuid")
        if uuid and uuid in seen:
            continue
        seen.add(str(uuid))
        unique.append(row)
    return unique


def _stamp(row: Mapping[str, Any]) -> float:
    return first_known(seconds_of(row.get("timestamp")), -1.0)


def _prompt(row: Mapping[str, Any]) -> str:
    content = (row.get("message") or {}).get("content")
    if isinstance(content, list):
        content = [part for part in content if part.get("type") == "text"]
    return "" if row.get("isMeta") else text_of(content)


class _Session:
    """The calls of all chains in the order of their results, and what they used."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.calls: list[Call] = []
        self.meter = Meter()
        self._usage = _last_usage(rows)
        self._open: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._agents = {str(row["agentId"]) for row in rows if row.get("agentId")}
        for row in rows:
            self._add(row)
        # A call without a result was cut off, and has shown nothing.
        for tool, arguments in self._open.values():
            self.calls.append(self._call(tool, arguments, "", failed=True, row={}))

    def _add(self, row: Mapping[str, Any]) -> None:
        self.meter.at(seconds_of(row.get("timestamp")))
        message = row.get("message") or {}
        key = _message(row)
        if row.get("type") == "assistant" and key in self._usage:
            self.meter.add(self._usage.pop(key))
        if row.get("type") == "queue-operation" or "<task-notification>" in str(
            message.get("content") or ""
        ):
            self._add_notified(str(row.get("content") or message.get("content") or ""))
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                self._open[str(block.get("id"))] = (
                    str(block.get("name")),
                    block.get("input") or {},
                )
            elif block.get("type") == "tool_result":
                self._add_result(block, row)

    def _add_result(self, block: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        # Ids repeat after a compaction: a result belongs to the call that still waits for one.
        if (waiting := self._open.pop(str(block.get("tool_use_id")), None)) is None:
            return
        tool, arguments = waiting
        failed = bool(block.get("is_error"))
        self.calls.append(
            self._call(tool, arguments, text_of(block.get("content")), failed=failed, row=row)
        )

    def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        output: str,
        *,
        failed: bool,
        row: Mapping[str, Any],
    ) -> Call:
        return Call(
            tool,
            arguments,
            output,
            failed,
            str(row.get("cwd") or ""),
            self.meter.at(seconds_of(row.get("timestamp"))),
            self.meter.tokens,
        )

    def _add_notified(self, text: str) -> None:
        """Add the tokens of background agents whose own lines are not here."""
        for notice in NOTIFICATION.findall(text):
            fields = {match["tag"]: match["value"] for match in TAGGED.finditer(notice)}
            agent = fields.get("task-id") or fields.get("agent-id") or ""
            if agent and agent in self._agents:
                continue
            self._agents.add(agent)
            self.meter.add(total(fields.get("total_tokens") or fields.get("total-tokens")))


def _message(row: Mapping[str, Any]) -> str:
    """Return the id of the message of the model that a line is a part of."""
    return str((row.get("message") or {}).get("id") or row.get("uuid") or "")


def _last_usage(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the tokens of each message of the model: those of its last line."""
    usage = {}
    for row in rows:
        message = row.get("message") or {}
        if row.get("type") == "assistant" and isinstance(message.get("usage"), Mapping):
            used = message["usage"]
            usage[_message(row)] = total(
                *(used.get(name) for name in INPUT), used.get("output_tokens")
            )
    return usage


READER = TranscriptReader(
    "claude-code", "sessions of Claude Code (JSON lines), with sub-agents", detect, read
)
