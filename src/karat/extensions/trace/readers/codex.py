"""Sessions of Codex: ``rollout-*.jsonl``, also compressed with Zstandard.

Totals of tokens are cumulative, and come behind the calls of the model that they count. Sub-agents
have files of their own that name the thread of their parent. The oldest files have no ``payload``.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import inf, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

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
TYPES = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|turn_context|event_msg)"')
OLDEST = re.compile(rb'^\{"id"\s*:\s*"[^"]+"\s*,\s*"timestamp"\s*:.*"instructions"')
MADE = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
)
# Lines above what a command printed.
HEADER = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Process exited|Process running|Exit code|Original token count|"
    r"Total output lines):?[^\n]*\n)+Output:\n",
)
ASIDE = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions")


def detect(path: Path, head: bytes) -> bool:
    """Return whether the lines are those of a session."""
    return ".jsonl" in path.name and bool(TYPES.search(head) or OLDEST.match(head))


def read(path: Path) -> list[Transcript]:
    """Return the transcript of the session in *path*, with those of its sub-agents."""
    main = _Thread(path)
    files = [
        file
        for key in main.ids
        for file in _children(path.parent, path.parent.stat().st_mtime_ns).get(key, ())
    ]
    threads = [main, *map(_Thread, files)]
    bills = sorted(bill for thread in threads for bill in thread.bills)
    meter = Meter()
    for at_s in sorted(at_s for thread in threads for at_s in thread.times):
        meter.at(at_s)
    for bill in bills:
        meter.add(bill.tokens)
    made = [call for thread in threads for call in thread.calls]
    return [
        Transcript(
            path,
            tuple(dict.fromkeys([*main.ids, *reading.names_of(path)])),
            tuple(
                each.call._replace(
                    at_s=meter.at(each.at_s),
                    tokens=total(*(bill.tokens for bill in bills if bill.when <= each.billed)),
                )
                for each in sorted(made, key=lambda each: each.at_s)
            ),
            main.text,
            "codex",
            main.folder,
            meter.seconds,
            meter.tokens,
            parts=tuple(files),
        )
    ]


@lru_cache(maxsize=64)
def _children(folder: Path, _changed_ns: int) -> dict[str, list[Path]]:
    """Return the files of sub-agents in *folder* by the thread that started them."""
    children: dict[str, list[Path]] = {}
    for file in sorted(folder.glob("rollout-*.jsonl*")):
        first = next(iter(reading.lines(file)), {})
        if parent := (first.get("payload") or {}).get("parent_thread_id"):
            children.setdefault(str(parent), []).append(file)
    return children


NEVER = (inf, 0)


class Bill(NamedTuple):
    """What one call of the model used, and when that was known: a time, and a line of its file."""

    when: tuple[float, int]
    tokens: float


class MadeCall(NamedTuple):
    """A call with the time of its result, and that of the bill of the call of the model."""

    call: Call
    at_s: float
    billed: tuple[float, int]


class _Thread:
    """What one file says: calls, bills and times."""

    def __init__(self, path: Path) -> None:
        self.calls: list[MadeCall] = []
        self.bills: list[Bill] = []
        self.times: list[float] = []
        self.ids: list[str] = []
        self.text = ""
        self.folder = ""
        self._total = 0.0
        self._now_in = ""
        self._open: dict[str, int] = {}
        for number, row in enumerate(reading.lines(path)):
            payload = row.get("payload")
            item = payload if isinstance(payload, Mapping) else row
            at_s = seconds_of(row.get("timestamp"))
            if not isnan(at_s):
                self.times.append(at_s)
            self._add(row, item, self.times[-1] if self.times else 0.0, number)

    def _add(self, row: Row, item: Row, at_s: float, number: int) -> None:
        kind = item.get("type")
        if row.get("type") in ("session_meta", "turn_context") or "instructions" in row:
            self._begin(item)
        elif kind == "token_count":
            self._bill(_used((item.get("info") or {}).get("total_token_usage")), (at_s, number))
        elif kind in MADE:
            self._open[str(item.get("call_id") or item.get("id"))] = len(self.calls)
            self.calls.append(MadeCall(_call(item, self._now_in), at_s, NEVER))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._answer(item, at_s)
        elif kind == "message" and item.get("role") == "user" and not self.text:
            said = text_of(item.get("content"))
            self.text = "" if said.lstrip().startswith(ASIDE) else said

    def _begin(self, item: Row) -> None:
        if not self.ids:
            self.ids = [str(item[key]) for key in ("id", "session_id") if item.get(key)]
        self._now_in = str(item.get("cwd") or self._now_in)
        self.folder = self.folder or self._now_in

    def _bill(self, used: float, when: tuple[float, int]) -> None:
        if isnan(used):
            return
        # A total that starts again is that of another process.
        self.bills.append(Bill(when, used - self._total if used >= self._total else used))
        self._total = used
        self.calls = [
            each._replace(billed=when) if each.billed == NEVER else each for each in self.calls
        ]

    def _answer(self, item: Row, at_s: float) -> None:
        at = self._open.pop(str(item.get("call_id")), None)
        if at is not None:
            known = self.calls[at]
            call = known.call._replace(output=_output(item.get("output")))
            self.calls[at] = known._replace(call=call, at_s=at_s)


def _call(item: Row, folder: str) -> Call:
    action = item.get("action")
    given = item.get("arguments") if "arguments" in item else item.get("input")
    arguments = action if isinstance(action, Mapping) else reading.arguments_of(given)
    where = arguments.get("workdir") or arguments.get("working_directory") or folder
    name = str(item.get("name") or item.get("type") or "")
    return Call(name, arguments, folder=str(where))


def _used(usage: object) -> float:
    if not isinstance(usage, Mapping):
        return nan
    used = total(usage.get("input_tokens"), usage.get("output_tokens"))
    return first_known(used, amount(usage.get("total_tokens")))


def _output(value: object) -> str:
    """Return what a command printed: plain, in JSON, or below a header.

    >>> _output('{"output": "a\\\\n", "metadata": {"exit_code": 0}}')
    'a\\n'
    >>> _output("Exit code: 0\\nWall time: 0.1 seconds\\nOutput:\\na")
    'a'
    """
    text = text_of(value)
    if text.startswith("{"):
        inner = reading.arguments_of(text)
        if isinstance(inner.get("output"), str):
            return str(inner["output"])
    return HEADER.sub("", text)


READER = TranscriptReader(
    "codex", "sessions of Codex (JSON lines, also .zst), with sub-agents", detect, read
)
