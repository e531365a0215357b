"""Trajectories of mini-SWE-agent: ``INSTANCE.traj.json``.

Each command runs in a new shell. The oldest files are a plain list of messages, with the command in
a fenced block.
"""

import re
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

Row = Mapping[str, Any]
FENCED = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
TAGGED = re.compile(r"<mswea_bash_command>(.*?)</mswea_bash_command>", re.DOTALL)
OUTPUT = re.compile(r"<output(?:_head)?>\n?(.*?)\n?</output(?:_head)?>", re.DOTALL)
TAIL = re.compile(r"<output_tail>\n?(.*?)\n?</output_tail>", re.DOTALL)
# What stands between both in the message.
ELIDED = "[... characters elided ...]"


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file says so, or is a list of messages with commands."""
    if not path.name.endswith(".json"):
        return False
    is_list = head.lstrip().startswith(b"[") and b'"role"' in head
    return (
        b'"mini_version"' in head
        or b'"mini-swe-agent' in head
        or b"mswea_bash_command" in head
        or (path.name.endswith(".traj.json") and (b'"messages"' in head or is_list))
    )


def read(path: Path) -> list[Transcript]:
    """Return the one transcript in *path*."""
    document = reading.document(path)
    info = document.get("info") or {} if isinstance(document, Mapping) else {}
    messages = document.get("messages") if isinstance(document, Mapping) else document
    if not isinstance(messages, list):
        raise FormatError([Problem(str(path), 0, "no messages; expected those of mini-SWE-agent")])
    place = ((info.get("config") or {}).get("environment") or {}).get("cwd")
    meter = Meter()
    calls = tuple(_calls(messages, meter, str(place or "")))
    known = document.get("instance_id") if isinstance(document, Mapping) else None
    spent = (info.get("model_stats") or {}).get("instance_cost")
    asked = (text_of(row.get("content")) for row in messages if row.get("role") == "user")
    return [
        Transcript(
            path,
            tuple(filter(None, (known or info.get("instance_id"), *reading.names_of(path)))),
            calls,
            next(asked, ""),
            "mini-swe-agent",
            str(place or ""),
            meter.seconds,
            meter.tokens,
            first_known(amount(spent), meter.cost),
        )
    ]


def _calls(messages: Sequence[Row], meter: Meter, folder: str) -> Iterator[Call]:
    for at, message in enumerate(messages):
        extra = message.get("extra") or {}
        when = meter.at(seconds_of(extra.get("timestamp")))
        if message.get("role") != "assistant":
            continue
        usage = (extra.get("response") or {}).get("usage") or {}
        cost = amount(extra.get("cost"))
        meter.add(total(usage.get("prompt_tokens"), usage.get("completion_tokens")), cost)
        commands = list(_commands(message))
        answers = _answers(messages[at + 1 :])
        for number, command in enumerate(commands):
            answer = answers[number] if number < len(answers) else {}
            ended = meter.at(seconds_of((answer.get("extra") or {}).get("timestamp")))
            yield Call(
                "bash",
                {"command": command, "workdir": folder},
                _output(text_of(answer.get("content"))),
                folder=folder,
                at_s=first_known(ended, when),
                tokens=meter.tokens,
                cost=meter.cost,
            )


def _commands(message: Row) -> Iterator[str]:
    """Yield the commands of a message: as actions, as calls of a tool, or in its text."""
    actions = (message.get("extra") or {}).get("actions") or []
    for action in actions:
        yield str(action.get("command") if isinstance(action, Mapping) else action)
    if actions:
        return
    called = message.get("tool_calls") or []
    for call in called:
        arguments = reading.arguments_of((call.get("function") or call).get("arguments"))
        yield str(arguments.get("command") or arguments.get("input") or "")
    if not called:
        content = text_of(message.get("content"))
        fenced = FENCED.findall(content) or TAGGED.findall(content)
        # The agent refuses a message with several commands.
        yield from (command.strip() for command in fenced if len(fenced) == 1)


def _answers(following: Sequence[Row]) -> list[Row]:
    """Return the messages up to the next one of the model."""
    answers = []
    for message in following:
        if message.get("role") == "assistant":
            break
        answers.append(message)
    return answers


def _output(text: str) -> str:
    """Return what a command printed, without the tags around it.

    >>> _output("<returncode>0</returncode>\\n<output>\\na\\n</output>")
    'a'
    """
    if not (match := OUTPUT.search(text)):
        return text
    tail = TAIL.search(text)
    return f"{match[1]}\n{ELIDED}\n{tail[1]}" if tail else match[1]


READER = TranscriptReader(
    "mini-swe-agent", "trajectories of mini-SWE-agent (.traj.json)", detect, read
)
