"""ATIF, the Agent Trajectory Interchange Format, v1.0 to v1.8.

Steps with ``is_copied_context`` are in another file already. Trajectories of sub-agents are inside
of the file or beside it, and a continued one goes on in another file.
"""

from collections.abc import Iterator, Mapping
from math import isnan, nan
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
    seconds_of,
    text_of,
    total,
)

MARK = b'"ATIF-v1.'
MOST_FILES = 1000


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file names the schema."""
    return path.name.endswith(".json") and b'"schema_version"' in head and MARK in head


def read(path: Path) -> list[Transcript]:
    """Return the one transcript in *path*, with its continuations and sub-agents."""
    document = reading.document(path)
    if not isinstance(document, Mapping) or not isinstance(document.get("steps"), list):
        raise FormatError([Problem(str(path), 0, "no list of steps; expected ATIF")])
    trace = _Trace(path)
    trace.add(document, path)
    extra = document.get("extra") or {}
    ids = [document.get("session_id"), document.get("trajectory_id"), extra.get("instance_id")]
    agent = document.get("agent") or {}
    return [
        Transcript(
            path,
            tuple(dict.fromkeys([*(str(each) for each in ids if each), *reading.names_of(path)])),
            tuple(trace.calls),
            trace.text,
            str(agent.get("name") or ""),
            seconds=trace.meter.seconds,
            tokens=trace.meter.tokens if trace.priced else trace.reported_tokens,
            cost=trace.meter.cost if trace.priced else trace.reported_cost,
            parts=tuple(trace.parts),
        )
    ]


class _Trace:
    """Collects the calls of a trajectory, its continuations and its sub-agents."""

    def __init__(self, path: Path) -> None:
        self.calls: list[Call] = []
        self.parts: list[Path] = []
        self.meter = Meter()
        self.text = ""
        self.priced = False
        self.reported_tokens = nan
        self.reported_cost = nan
        self._seen = {path.resolve()}

    def add(self, document: Mapping[str, Any], path: Path, *, is_sub: bool = False) -> None:
        """Add a whole trajectory; its calls are in the order in which they were made."""
        inside = {
            str(key): each
            for each in document.get("subagent_trajectories") or []
            for key in (each.get("trajectory_id"), each.get("session_id"))
            if key
        }
        waiting = {id(each): each for each in inside.values()}
        for step in document.get("steps") or []:
            if step.get("is_copied_context"):
                continue
            if step.get("source") == "user" and not self.text and not is_sub:
                self.text = text_of(step.get("message"))
            self._add_step(step, path, inside, waiting)
        for each in waiting.values():
            self.add(each, path, is_sub=True)
        final = document.get("final_metrics") or {}
        self.reported_tokens = total(
            self.reported_tokens,
            final.get("total_prompt_tokens"),
            final.get("total_completion_tokens"),
        )
        self.reported_cost = total(self.reported_cost, final.get("total_cost_usd"))
        if (more := document.get("continued_trajectory_ref")) and not is_sub:
            self._add_file(path.parent / str(more))

    def _add_step(
        self,
        step: Mapping[str, Any],
        path: Path,
        inside: Mapping[str, Mapping[str, Any]],
        waiting: dict[int, Mapping[str, Any]],
    ) -> None:
        metrics = step.get("metrics") or {}
        used = total(metrics.get("prompt_tokens"), metrics.get("completion_tokens"))
        cost = amount(metrics.get("cost_usd"))
        self.priced = self.priced or not isnan(used) or not isnan(cost)
        self.meter.add(used, cost)
        at_s = self.meter.at(seconds_of(step.get("timestamp")))
        results = list((step.get("observation") or {}).get("results") or [])
        calls = step.get("tool_calls") or []
        for call in calls:
            mine = [each for each in results if each.get("source_call_id") == call["tool_call_id"]]
            if not mine and len(calls) == 1:
                mine = results
            self.calls.append(
                Call(
                    str(call.get("function_name") or ""),
                    reading.arguments_of(call.get("arguments")),
                    "\n".join(text_of(each.get("content")) for each in mine),
                    at_s=at_s,
                    tokens=self.meter.tokens,
                    cost=self.meter.cost,
                )
            )
        for reference in _references(results):
            keys = [str(reference.get(key)) for key in ("trajectory_id", "session_id")]
            known = next((inside[key] for key in keys if key in inside), None)
            if known is not None and waiting.pop(id(known), None) is not None:
                self.add(known, path, is_sub=True)
            elif known is None and (file := reference.get("trajectory_path")):
                self._add_file(path.parent / str(file), is_sub=True)

    def _add_file(self, path: Path, *, is_sub: bool = False) -> None:
        if path.resolve() in self._seen or len(self._seen) > MOST_FILES or not path.is_file():
            return
        self._seen.add(path.resolve())
        self.parts.append(path)
        document = reading.document(path)
        if isinstance(document, Mapping):
            self.add(document, path, is_sub=is_sub)


def _references(results: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for each in results:
        references = each.get("subagent_trajectory_ref") or []
        yield from references if isinstance(references, list) else [references]


READER = TranscriptReader(
    "atif", "ATIF, the Agent Trajectory Interchange Format of Harbor, v1.0 to v1.8", detect, read
)
