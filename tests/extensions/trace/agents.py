"""A synthetic agent whose calls, tokens, seconds and money are known, written in any format."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

START = datetime(2026, 5, 1, 12, tzinfo=UTC)
FOLDER = "/repo"
PROMPT = "Please solve this: the login page rejects long passwords"


class Turn(NamedTuple):
    """A call of the model and of a shell: *command* printed *output* after *second* seconds."""

    command: str
    output: str
    prompt: int
    completion: int
    cost: float
    second: float


# Searches, lists, views another file, then the first target, then its second part with numbers.
TURNS = (
    Turn(
        "rg -n password src", "src/form.py:3:password = 1\nsrc/form.py:9:password", 100, 10, 0.01, 2
    ),
    Turn("ls src", "form.py\nlogin.py", 200, 20, 0.02, 4),
    Turn("sed -n '1,4p' src/form.py | head -2", "one\ntwo", 300, 30, 0.03, 7),
    Turn(
        "cd src && nl -ba login.py | sed -n '5,6p' && cd ..",
        "     5\tdef login():\n     6\t    pass",
        400,
        40,
        0.04,
        11,
    ),
    Turn("cat src/api/users.py", "a\nb\nc", 500, 50, 0.05, 16),
    Turn("sed -i s/a/b/ src/login.py", "", 600, 60, 0.06, 22),
)
GOLD = {
    "test_cases": [
        {
            "id": "acme__web-101",
            "query": "the login page rejects long passwords",
            "targets": [
                {"path": "src/login.py", "grade": 1, "start_line": 5, "end_line": 8},
                {"path": "src/api/users.py", "grade": 1, "start_line": 2, "end_line": 3},
            ],
        }
    ]
}
# The first target is on the screen after the fourth call, the second after the fifth.
FIRST, ALL = 4, 5


def spent(count: int) -> tuple[float, float, float]:
    """Return tokens, money and seconds after *count* calls."""
    turns = TURNS[:count]
    tokens = sum(turn.prompt + turn.completion for turn in turns)
    return float(tokens), sum(turn.cost for turn in turns), turns[-1].second


def stamp(second: float) -> str:
    return (START + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def atif_steps(turns: Sequence[Turn], *, first: int = 1) -> list[dict[str, Any]]:
    return [
        {
            "step_id": number,
            "timestamp": stamp(turn.second),
            "source": "agent",
            "message": "",
            "tool_calls": [
                {
                    "tool_call_id": f"c{number}",
                    "function_name": "bash_command",
                    "arguments": {"keystrokes": turn.command + "\n"},
                }
            ],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": turn.output}]},
            "metrics": {
                "prompt_tokens": turn.prompt,
                "completion_tokens": turn.completion,
                "cost_usd": turn.cost,
            },
        }
        for number, turn in enumerate(turns, first)
    ]


def asked(version: str = "ATIF-v1.7") -> dict[str, Any]:
    return {
        "schema_version": version,
        "session_id": "s-1",
        "agent": {"name": "toy", "version": "1"},
        "steps": [
            {"step_id": 1, "timestamp": stamp(0), "source": "user", "message": PROMPT},
        ],
    }


def write_atif(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write a trajectory with a copied step, a sub-agent inside, and a continuation."""
    head, inside, more = turns[:2], turns[2:4], turns[4:]
    document = asked()
    document["steps"] += atif_steps(head, first=2)
    document["steps"].append(
        {
            "step_id": 4,
            "source": "system",
            "message": "ask another agent",
            "observation": {"results": [{"subagent_trajectory_ref": [{"trajectory_id": "sub"}]}]},
        }
    )
    document["subagent_trajectories"] = [
        {**asked(), "trajectory_id": "sub", "steps": atif_steps(inside)}
    ]
    document["continued_trajectory_ref"] = "trajectory.cont-1.json"
    copied = [{**step, "is_copied_context": True} for step in document["steps"]]
    going_on = {**asked(), "steps": [*copied, *atif_steps(more, first=5)]}
    _write(folder / "trajectory.cont-1.json", json.dumps(going_on))
    return _write(folder / "trajectory.json", json.dumps(document))


def write_harbor(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write a job of one trial."""
    trial = folder / "acme__web-101__x1"
    document = asked()
    document["steps"] += atif_steps(turns, first=2)
    _write(trial / "agent" / "trajectory.json", json.dumps(document))
    result = {
        "task_name": "acme__web-101",
        "trial_name": "acme__web-101__x1",
        "agent_info": {"name": "toy"},
        "agent_result": {
            "n_input_tokens": sum(turn.prompt for turn in turns),
            "n_output_tokens": sum(turn.completion for turn in turns),
            "cost_usd": sum(turn.cost for turn in turns),
        },
        "agent_execution": {"started_at": stamp(0), "finished_at": stamp(turns[-1].second)},
    }
    _write(folder / "result.json", json.dumps({"id": "job", "n_total_trials": 1}))
    return _write(trial / "result.json", json.dumps(result))


def write_claude(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write a session: usage that grows over the lines of a message, duplicates, a sub-agent."""
    main: list[dict[str, Any]] = [
        _claude_line("user", 0, "u0", {"role": "user", "content": PROMPT})
    ]
    sub: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        rows = sub if number in {2, 3} else main
        usage = {
            "input_tokens": turn.prompt - 50,
            "cache_read_input_tokens": 50,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        said = {"id": f"m{number}", "role": "assistant", "model": "toy"}
        text = {**said, "content": [{"type": "text", "text": "hm"}], "usage": usage}
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": turn.command},
        }
        full = {**usage, "output_tokens": turn.completion}
        rows.append(_claude_line("assistant", turn.second - 1, f"a{number}", text))
        rows.append(
            _claude_line(
                "assistant",
                turn.second - 0.5,
                f"b{number}",
                {**said, "content": [use], "usage": full},
            )
        )
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": turn.output}
        rows.append(
            _claude_line("user", turn.second, f"r{number}", {"role": "user", "content": [result]})
        )
    sub = [{**row, "isSidechain": True, "agentId": "x"} for row in sub]
    main += main[1:4]
    main.append({"type": "summary", "summary": "done", "leafUuid": "u0"})
    _write(folder / "s-1" / "subagents" / "agent-x.jsonl", _lines(sub))
    return _write(folder / "s-1.jsonl", _lines(main))


def _claude_line(kind: str, second: float, uuid: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": "s-1",
        "cwd": FOLDER,
        "version": "2.1.0",
        "timestamp": stamp(second),
        "message": message,
    }


def write_codex(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write a session: totals behind the calls, one of them twice, and a sub-agent's file."""
    subs = turns[2:4]
    rows = [
        _codex_line(0, "session_meta", {"id": "s-1", "cwd": FOLDER, "originator": "cli"}),
        _codex_line(0, "turn_context", {"cwd": FOLDER, "model": "toy"}),
        _codex_line(0, "response_item", _codex_message("<environment_context>linux")),
        _codex_line(0, "response_item", _codex_message(PROMPT)),
    ]
    meta = {"id": "s-2", "parent_thread_id": "s-1", "cwd": FOLDER}
    sub_rows = [_codex_line(4, "session_meta", meta)]
    _codex_turns(rows, [turn for turn in turns if turn not in subs])
    _codex_turns(sub_rows, subs)
    rows.append(rows[-2])
    _write(folder / "rollout-2026-05-01-s-2.jsonl", _lines(sub_rows))
    return _write(folder / "rollout-2026-05-01-s-1.jsonl", _lines(rows))


def _codex_turns(rows: list[dict[str, Any]], turns: Sequence[Turn]) -> None:
    prompt = completion = 0
    for number, turn in enumerate(turns):
        call = {
            "type": "function_call",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": turn.command}),
            "call_id": f"c{number}",
        }
        rows.append(_codex_line(turn.second - 1, "response_item", call))
        prompt += turn.prompt
        completion += turn.completion
        usage = {
            "input_tokens": prompt,
            "cached_input_tokens": prompt // 2,
            "output_tokens": completion,
            "reasoning_output_tokens": 1,
            "total_tokens": prompt + completion,
        }
        count = {"type": "token_count", "info": {"total_token_usage": usage}}
        rows.append(_codex_line(turn.second - 0.5, "event_msg", count))
        output = {
            "type": "function_call_output",
            "call_id": f"c{number}",
            "output": f"Chunk ID: 1\nProcess exited with code 0\nOutput:\n{turn.output}",
        }
        rows.append(_codex_line(turn.second, "response_item", output))


def _codex_line(second: float, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": stamp(second), "type": kind, "payload": payload}


def _codex_message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def write_swe_agent(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write a trajectory; demonstrations come before what the user asked."""
    seconds = [0.0, *(turn.second for turn in turns)]
    steps = []
    for turn, before in zip(turns, seconds, strict=False):
        steps.append(
            {
                "action": turn.command + "\n",
                "observation": turn.output.replace("\n", "\r\n"),
                "response": "",
                "thought": "",
                "execution_time": turn.second - before,
                "state": {"open_file": "n/a", "working_dir": FOLDER},
            }
        )
    stats = {
        "tokens_sent": sum(turn.prompt for turn in turns),
        "tokens_received": sum(turn.completion for turn in turns),
        "instance_cost": sum(turn.cost for turn in turns),
    }
    document = {
        "environment": "main",
        "trajectory": steps,
        "history": [
            {"role": "user", "content": "an example", "is_demo": True},
            {"role": "user", "content": PROMPT},
        ],
        "info": {"model_stats": stats},
    }
    return _write(folder / "acme__web-101.traj", json.dumps(document))


def write_mini(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write the messages of the present form, with actions, usage and money."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "help"},
        {"role": "user", "content": PROMPT, "extra": {"timestamp": START.timestamp()}},
    ]
    for turn in turns:
        usage = {"prompt_tokens": turn.prompt, "completion_tokens": turn.completion}
        extra = {
            "actions": [{"command": turn.command}],
            "response": {"usage": usage},
            "cost": turn.cost,
            "timestamp": START.timestamp() + turn.second - 1,
        }
        messages.append({"role": "assistant", "content": "hm", "extra": extra})
        content = f"<returncode>0</returncode>\n<output>\n{turn.output}\n</output>"
        done = {"timestamp": START.timestamp() + turn.second}
        messages.append({"role": "user", "content": content, "extra": done})
    cost = sum(turn.cost for turn in turns)
    info = {
        "model_stats": {"instance_cost": cost, "api_calls": len(turns)},
        "config": {"environment": {"cwd": FOLDER}},
        "mini_version": "2.0.0",
    }
    document = {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    return _write(folder / "acme__web-101" / "acme__web-101.traj.json", json.dumps(document))


def write_openhands(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write an instance with its events; the answer of the model is repeated in its observation."""
    history: list[dict[str, Any]] = [
        {
            "id": 0,
            "timestamp": stamp(0)[:-1],
            "source": "user",
            "action": "message",
            "args": {"content": PROMPT},
        }
    ]
    for number, turn in enumerate(turns, 1):
        usage = {"prompt_tokens": turn.prompt, "completion_tokens": turn.completion}
        made = {
            "function_name": "execute_bash",
            "tool_call_id": f"c{number}",
            "model_response": {"id": f"m{number}", "usage": usage},
        }
        history.append(
            {
                "id": 2 * number,
                "timestamp": stamp(turn.second - 1)[:-1],
                "source": "agent",
                "action": "run",
                "args": {"command": turn.command},
                "tool_call_metadata": made,
            }
        )
        history.append(
            {
                "id": 2 * number + 1,
                "timestamp": stamp(turn.second)[:-1],
                "source": "agent",
                "observation": "run",
                "cause": 2 * number,
                "content": turn.output,
                "extras": {"metadata": {"working_dir": FOLDER}},
                "tool_call_metadata": made,
            }
        )
    row = {"instance_id": "acme__web-101", "history": history, "metadata": {}}
    return _write(folder / "output.jsonl", _lines([row]))


def _inspect_sample(turns: Sequence[Turn]) -> dict[str, Any]:
    events: list[dict[str, Any]] = [{"event": "sample_init", "timestamp": stamp(0)}]
    for number, turn in enumerate(turns):
        usage = {
            "input_tokens": turn.prompt - 40,
            "input_tokens_cache_read": 40,
            "output_tokens": turn.completion,
            "total_tokens": turn.prompt + turn.completion,
        }
        events += [
            {
                "event": "model",
                "timestamp": stamp(turn.second - 1),
                "output": {"usage": usage},
            },
            {
                "event": "tool",
                "id": f"c{number}",
                "timestamp": stamp(turn.second - 0.5),
                "completed": stamp(turn.second),
                "function": "bash",
                "arguments": {"cmd": turn.command},
                "result": f"attachment://{number}",
            },
        ]
    texts = {str(number): turn.output for number, turn in enumerate(turns)}
    return {
        "id": "acme__web-101",
        "epoch": 1,
        "input": PROMPT,
        "messages": [],
        "events": events,
        "attachments": texts,
    }


def write_inspect(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write an archive with one sample."""
    import zipfile

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "fix"}}))
        sample = json.dumps(_inspect_sample(turns))
        archive.writestr("samples/acme__web-101_epoch_1.json", sample)
    return path


def write_spans(folder: Path, turns: Sequence[Turn] = TURNS) -> Path:
    """Write one trace by the conventions for GenAI, within a span of the agent."""
    spans = [
        _span("invoke_agent toy", 0, turns[-1].second, {"gen_ai.operation.name": "invoke_agent"})
    ]
    for turn in turns:
        chat = {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": turn.prompt,
            "gen_ai.usage.output_tokens": turn.completion,
            "llm.cost.total": turn.cost,
        }
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "bash",
            "gen_ai.tool.call.arguments": json.dumps({"command": turn.command}),
            "gen_ai.tool.call.result": turn.output,
        }
        spans.append(_span("chat toy", turn.second - 1, turn.second - 0.5, chat))
        spans.append(_span("execute_tool bash", turn.second - 0.5, turn.second, tool))
    named = [{"key": "instance_id", "value": {"stringValue": "acme__web-101"}}]
    document = {
        "resourceSpans": [{"resource": {"attributes": named}, "scopeSpans": [{"spans": spans}]}]
    }
    return _write(folder / "traces.jsonl", _lines([document]))


def _span(name: str, start: float, end: float, attributes: dict[str, Any]) -> dict[str, Any]:
    first = START.timestamp()
    return {
        "traceId": "t1",
        "spanId": f"{name}-{start}",
        "name": name,
        "startTimeUnixNano": str(int((first + start) * 1e9)),
        "endTimeUnixNano": str(int((first + end) * 1e9)),
        "attributes": [
            {
                "key": key,
                "value": {
                    "stringValue" if isinstance(value, str) else "doubleValue": value,
                },
            }
            for key, value in attributes.items()
        ],
    }


Writer = Callable[[Path, Sequence[Turn]], Path]
WRITERS: dict[str, Writer] = {
    "atif": write_atif,
    "harbor": write_harbor,
    "claude-code": write_claude,
    "codex": write_codex,
    "swe-agent": write_swe_agent,
    "mini-swe-agent": write_mini,
    "openhands": write_openhands,
    "inspect": write_inspect,
    "spans": write_spans,
}
# What a format does not say for each call.
WITHOUT = {
    "claude-code": {"cost"},
    "codex": {"cost"},
    "swe-agent": {"tokens", "cost"},
    "openhands": {"cost"},
    "inspect": {"cost"},
}
