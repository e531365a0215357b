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
        "cd src && nl -ba login.py | sed -n '5,6p'",
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


Writer = Callable[[Path, Sequence[Turn]], Path]
WRITERS: dict[str, Writer] = {
    "atif": write_atif,
    "harbor": write_harbor,
    "claude-code": write_claude,
}
# What a format does not say.
WITHOUT = {"claude-code": {"cost"}}
