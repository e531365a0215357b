"""What formats do that a reader must know: repeated usage, old forms, files beside others."""

import json
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.extensions.trace.reading import read_transcripts
from karat.extensions.trace.record import StepKind, Transcript
from karat.extensions.trace.steps import steps_of
from tests.extensions.trace.agents import (
    TURNS,
    asked,
    atif_steps,
    stamp,
    write_claude,
    write_codex,
    write_harbor,
)


def written(path: Path, *rows: object) -> Path:
    """Write JSON lines, or one document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def only(place: Path) -> Transcript:
    (transcript,) = read_transcripts(place).transcripts
    return transcript


def test_claude_code_counts_a_background_agent_once(tmp_path: Path) -> None:
    plain = only(write_claude(tmp_path / "plain"))
    notice = (
        "<task-notification><task-id>{}</task-id><usage><total_tokens>700</total_tokens></usage>"
        "</task-notification>"
    )
    path = write_claude(tmp_path / "told")
    rows = [
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": stamp(30),
            "sessionId": "s-1",
            "content": notice.format(agent),
        }
        # The tokens of x are in a file of its own; those of y are told twice.
        for agent in ("x", "y", "y")
    ]
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert only(tmp_path / "told").tokens == plain.tokens + 700


def test_claude_code_survives_a_kill(tmp_path: Path) -> None:
    path = write_claude(tmp_path)
    use = {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "cat src/login.py"}}
    usage = {"input_tokens": None, "output_tokens": None}
    message = {"id": "m9", "role": "assistant", "content": [use], "usage": usage}
    row = {
        "type": "assistant",
        "uuid": "k",
        "sessionId": "s-1",
        "timestamp": stamp(40),
        "message": message,
    }
    with path.open("a") as file:
        file.write(json.dumps(row) + '\n{"type": "user", "uu')
    transcript = only(tmp_path)
    assert len(transcript.calls) == len(TURNS) + 1
    assert transcript.tokens == sum(turn.prompt + turn.completion for turn in TURNS)
    # A call without a result has shown nothing.
    assert steps_of(transcript)[-1].parts == ()


def test_codex_reads_zstandard(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = write_codex(tmp_path)
    plain = only(tmp_path)
    for file in (path, path.with_name("rollout-2026-05-01-s-2.jsonl")):
        packed = zstandard.ZstdCompressor().compress(file.read_bytes())
        file.with_name(f"{file.name}.zst").write_bytes(packed)
        file.unlink()
    packed_too = only(tmp_path)
    assert packed_too.calls == plain.calls
    assert packed_too.tokens == plain.tokens


def test_codex_reads_the_oldest_form_and_a_total_that_starts_again(tmp_path: Path) -> None:
    call = {
        "type": "function_call",
        "name": "shell",
        "arguments": json.dumps({"command": ["bash", "-lc", "cat a.py"], "workdir": "/repo"}),
        "call_id": "c",
    }
    output = {"output": "x", "metadata": {"exit_code": 0}}
    answer = {"type": "function_call_output", "call_id": "c", "output": json.dumps(output)}
    head: dict[str, Any] = {"id": "s", "timestamp": stamp(0), "instructions": None, "git": {}}
    counts = [
        {
            "type": "token_count",
            "info": {"total_token_usage": {"input_tokens": n, "output_tokens": 1}},
        }
        for n in (100, 150, 20)
    ]
    written(tmp_path / "rollout-old.jsonl", head, call, counts[0], answer, *counts[1:])
    transcript = only(tmp_path)
    assert transcript.calls[0].output == "x"
    assert transcript.calls[0].tokens == 101
    # 101, then 50 more, then 21 of another process.
    assert transcript.tokens == 101 + 50 + 21
    assert [part.path for step in steps_of(transcript) for part in step.parts] == ["/repo/a.py"]


def test_mini_swe_agent_reads_the_oldest_form_and_refused_messages(tmp_path: Path) -> None:
    def said(role: str, content: str) -> dict[str, str]:
        return {"role": role, "content": content}

    command = "look\n```mswea_bash_command\ncat a.py\n```"
    cut = "<output_head>\nx\ny\n</output_head>\n<elided_chars>\n9 elided\n</elided_chars>\n"
    messages = [
        said("system", "help"),
        said("user", "fix it"),
        said("assistant", command),
        said("user", f"<returncode>0</returncode>\n{cut}<output_tail>\nz\n</output_tail>"),
        said("assistant", f"{command}\nand\n{command}"),
        said("user", "Please always provide EXACTLY ONE action"),
    ]
    written(tmp_path / "q.traj.json", messages)
    transcript = only(tmp_path)
    assert (transcript.text, len(transcript.calls)) == ("fix it", 1)
    ((part,),) = (step.parts for step in steps_of(transcript))
    assert part == ("a.py", 1, 2)


@pytest.mark.parametrize("version", [f"ATIF-v1.{n}" for n in range(9)])
def test_atif_reads_every_version(version: str, tmp_path: Path) -> None:
    document = asked(version)
    document["steps"] += atif_steps(TURNS, first=2)
    if version == "ATIF-v1.0":
        for step in document["steps"]:
            step.pop("metrics", None)
        document["final_metrics"] = {"total_prompt_tokens": 70, "total_completion_tokens": 7}
    transcript = only(written(tmp_path / "t.json", document))
    assert len(transcript.calls) == len(TURNS)
    spent = sum(turn.prompt + turn.completion for turn in TURNS)
    assert transcript.tokens == (77 if version == "ATIF-v1.0" else spent)


def span(second: float, **attributes: object) -> dict[str, Any]:
    first = 1_700_000_000 + second
    return {
        "traceId": "t",
        "name": "s",
        "startTimeUnixNano": str(int(first * 1e9)),
        "endTimeUnixNano": str(int((first + 1) * 1e9)),
        "attributes": [
            {"key": key.replace("__", "."), "value": {"stringValue": value}}
            for key, value in attributes.items()
        ],
    }


def test_retrieval_spans_are_searches(tmp_path: Path) -> None:
    known = {
        "openinference__span__kind": "RETRIEVER",
        "input__value": "where is login",
        "retrieval__documents__0__document__id": "src/a.py",
        "retrieval__documents__0__document__content": "x" * 40,
        "retrieval__documents__1__document__id": "doc-7",
        "retrieval__documents__1__document__metadata": json.dumps(
            {"file_path": "src/b.py", "start_line": 3, "end_line": 9}
        ),
    }
    documents = json.dumps([{"id": "src/c.py", "score": 0.5}])
    genai = {"gen_ai__operation__name": "retrieval", "gen_ai__retrieval__documents": documents}
    chat = {
        "openinference__span__kind": "LLM",
        "llm__token_count__prompt": "90",
        "llm__token_count__completion": "10",
    }
    spans = [span(0, **known), span(2, **chat), span(4, **genai)]
    written(tmp_path / "spans.json", {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    transcript = only(tmp_path)
    assert transcript.text == "where is login"
    steps = steps_of(transcript)
    assert [step.kind for step in steps] == [StepKind.SEARCHED] * 2
    assert [tuple(part) for step in steps for part in step.parts] == [
        ("src/a.py", -1, -1),
        ("src/b.py", 3, 9),
        ("src/c.py", -1, -1),
    ]
    assert [call.at_s for call in transcript.calls] == [1, 5]
    assert transcript.calls[1].tokens == 100


def test_a_table_of_searches(tmp_path: Path) -> None:
    rows = [
        "query,call,rank,document,tokens,seconds",
        "q1,2,1,src/login.py,30,4.5",
        "q1,1,2,b.py,20,1.5",
        "q1,1,1,a.py,10,1.5",
        "q2,1,1,c.py,5,0.5",
    ]
    (tmp_path / "searches.csv").write_text("\n".join(rows))
    one, two = read_transcripts(tmp_path).transcripts
    assert (one.ids, two.ids) == (("q1",), ("q2",))
    steps = steps_of(one)
    assert [[part.path for part in step.parts] for step in steps] == [
        ["a.py", "b.py"],
        ["src/login.py"],
    ]
    assert [step.read for step in steps] == [30, 30]
    assert [call.at_s for call in one.calls] == [1.5, 4.5]


def test_a_trial_of_harbor_counts_once_beside_the_session_of_its_agent(tmp_path: Path) -> None:
    path = write_harbor(tmp_path)
    write_claude(path.parent / "agent" / "sessions" / "projects" / "-repo")
    assert only(tmp_path).source == path
    (path.parent / "agent" / "trajectory.json").unlink()
    read = read_transcripts(tmp_path)
    assert read.readers == ("claude-code",)
    assert "no transcript of this trial" in read.problems[0]


def test_a_folder_without_transcripts_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "readme.json").write_text("{}")
    with pytest.raises(
        InputError, match="no transcript that a reader knows; expected files of one"
    ):
        read_transcripts(tmp_path)


def test_a_broken_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    write_claude(tmp_path / "good")
    (tmp_path / "bad.json").write_text('{"schema_version": "ATIF-v1.4", "steps": [')
    read = read_transcripts(tmp_path)
    assert len(read.transcripts) == 1
    (problem,) = read.problems
    assert "bad.json: not JSON" in problem
