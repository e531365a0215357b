"""Trajectories of SWE-agent: ``INSTANCE.traj``.

Tokens and money are known in all, not call by call; seconds are those of the tools.
"""

import json
import re
from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

from karat.errors import FormatError, Problem
from karat.extensions.trace import reading
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import Call, Transcript, amount, text_of, total

# The lines below are the text to write, up to ``end_of_edit``.
WRITES = re.compile(r"^\s*(?:edit|insert)\b[^\n]*\n")


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file has a trajectory of actions."""
    return path.name.endswith((".traj", ".traj.json")) and (
        b'"trajectory"' in head or (b'"action"' in head and b'"message_type"' in head)
    )


def read(path: Path) -> list[Transcript]:
    """Return the one transcript in *path*."""
    document = reading.document(path)
    known = isinstance(document, Mapping)
    steps = document.get("trajectory", _demonstrated(document)) if known else None
    if not isinstance(steps, list):
        raise FormatError([Problem(str(path), 0, "no trajectory; expected one of SWE-agent")])
    calls = []
    folder = ""
    spent = 0.0
    for step in steps:
        action = str(step.get("action") or "")
        now = _folder(step.get("state"))
        spent += amount(step.get("execution_time"))  # NaN in older files
        if action.strip():
            started = folder or ("" if action.lstrip().startswith("cd ") else now)
            command = action.split("\n", 1)[0] if WRITES.match(action) else action
            output = str(step.get("observation") or "").replace("\r\n", "\n")
            calls.append(Call("bash", {"command": command}, output, folder=started, at_s=spent))
        folder = now or folder
    info = document.get("info") or {}
    stats = info.get("model_stats") or {}
    used = total(stats.get("tokens_sent"), stats.get("tokens_received"))
    return [
        Transcript(
            path,
            reading.names_of(path),
            tuple(calls),
            _asked(document),
            "swe-agent",
            _folder(steps[0].get("state")) if steps else "",
            spent,
            used or nan,
            amount(stats.get("instance_cost")) or nan,
        )
    ]


def _demonstrated(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a demonstration, which has only the messages."""
    rows = document.get("history") or []
    following = [*rows[1:], {}]
    return [
        {"action": row["action"], "observation": text_of(answer.get("content"))}
        for row, answer in zip(rows, following, strict=True)
        if row.get("role") == "assistant" and row.get("action")
    ]


def _folder(state: object) -> str:
    if isinstance(state, str):
        try:
            state = json.loads(state)
        except ValueError:
            return ""
    return str(state.get("working_dir") or "") if isinstance(state, Mapping) else ""


def _asked(document: Mapping[str, Any]) -> str:
    """Return the first message to the agent that is no demonstration."""
    for message in document.get("history") or []:
        if message.get("role") == "user" and not message.get("is_demo"):
            return text_of(message.get("content"))
    return ""


READER = TranscriptReader("swe-agent", "trajectories of SWE-agent (.traj)", detect, read)
