"""MCP tools: what they answer, and what happens when they do not."""

import sys
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import from_texts
from karat.engines.adapters.mcp import McpEngine, McpOptions
from karat.engines.spec import build
from karat.errors import EngineError, InputError

CORPUS = from_texts({"src/a.py": "login\n", "b.md": "x\nlogin here\n", "c.md": "nothing\n"})
ARGUMENTS = {"root": "{root}", "query": "{query}", "limit": "{k}"}


def opened(toy: list[str], *style: str, **options: Any) -> McpEngine:
    command = [*toy, "mcp", "stdio", *style]
    given = {"command": command, "tool": "find", "arguments": ARGUMENTS, **options}
    engine = McpEngine(McpOptions(**given))
    engine.index(CORPUS)
    return engine


def test_text_is_read_for_the_paths_it_mentions(toy: list[str]) -> None:
    with opened(toy, "text") as engine:
        locations = [(hit.path, hit.start_line) for hit in engine.search("login", 5)]
        assert locations == [("b.md", 0), ("src/a.py", 0)]
        # The other words of the text are no bad hits.
        assert engine.invalid == {}


def test_text_is_read_by_a_pattern(toy: list[str]) -> None:
    with opened(toy, "text", pattern=r"^(?P<start>\d+)\. (?P<path>.+)$") as engine:
        locations = [(hit.path, hit.start_line) for hit in engine.search("login", 5)]
        assert locations == [("b.md", 1)]
        assert engine.invalid == {"past the last line": 1}


def test_a_server_that_dies_is_started_again_once(toy: list[str]) -> None:
    with opened(toy, tool="die", arguments={}) as engine:
        with pytest.raises(EngineError, match="the server closed the connection twice"):
            engine.search("x", 1)
        assert engine.restarts == 1


def test_a_tool_that_fails_or_hangs(toy: list[str]) -> None:
    engine = opened(toy, tool="fail", arguments={})
    with engine, pytest.raises(EngineError, match="returned an error: 'Error executing tool fail"):
        engine.search("x", 1)
    with opened(toy, tool="hang", arguments={}, timeout_s=0.5) as engine:
        for _ in range(2):
            with pytest.raises(EngineError, match=r"took longer than 0\.5 s") as caught:
                engine.search("x", 1)
            assert isinstance(caught.value.__cause__, TimeoutError)


def test_an_argument_that_the_tool_lacks_is_named(toy: list[str]) -> None:
    near = {**ARGUMENTS, "limits": "{k}"}
    with pytest.raises(InputError, match="tool 'find' has no argument 'limits'; did you mean 'lim"):
        opened(toy, arguments=near)
    with pytest.raises(InputError, match="no argument 'zzz'; it has root, query, limit"):
        opened(toy, arguments={**ARGUMENTS, "zzz": 1})


def test_a_tool_that_is_not_there(toy: list[str]) -> None:
    with pytest.raises(InputError, match="the server has no tool 'fnd'; did you mean 'find'"):
        opened(toy, tool="fnd")


@pytest.mark.parametrize(
    ("code", "message", "start_timeout_s"),
    [
        ("import sys; sys.exit('no index here')", "cannot connect: .*no index here", 60),
        ("print('hello'); print('world')", "cannot connect", 60),
        ("import time; time.sleep(600)", "starting the server took longer than 1.5 s", 1.5),
    ],
)
def test_a_server_that_is_none(code: str, message: str, start_timeout_s: float) -> None:
    command = [sys.executable, "-c", code]
    options = McpOptions(command=command, tool="find", start_timeout_s=start_timeout_s)
    with pytest.raises(EngineError, match=message):
        McpEngine(options).index(CORPUS)


def test_nothing_listens() -> None:
    engine = McpEngine(McpOptions(url="http://127.0.0.1:9/mcp", tool="find"))
    with pytest.raises(EngineError, match="cannot connect"):
        engine.index(CORPUS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tool": "find"}, "expected either command or url"),
        ({"tool": "find", "command": ["x"], "url": "http://h/mcp"}, "either command or url"),
        ({"tool": "find", "command": ["x", "{query}"]}, "{query} is unknown"),
        ({"tool": "find", "command": ["x"], "headers": {"A": "b"}}, "headers need url"),
        ({"tool": "find", "url": "http://h/mcp", "env": ["A"]}, "env needs command"),
        ({"tool": "find", "url": "http://a:hunter2@h/mcp"}, "contains a password"),
        (
            {"tool": "find", "command": ["x"], "arguments": {"api_key": "hunter2"}},
            "contains a secret",
        ),
        ({"tool": "find", "command": ["x"], "env": {"MY_TOKEN": "hunter2"}}, "contains a secret"),
        ({"tool": "find", "command": ["x"], "pattern": "("}, "not a regular expression"),
        ({"command": ["x"]}, "the option 'tool' is missing"),
    ],
)
def test_configurations_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"engine": "mcp", **options})
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such program"):
        McpEngine(McpOptions(command=[str(tmp_path / "none")], tool="x")).index(CORPUS)
