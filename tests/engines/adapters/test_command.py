"""A command that misbehaves gives one clear error, and leaves nothing behind."""

import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.adapters.command import CommandEngine, CommandOptions
from karat.engines.adapters.external import External
from karat.engines.spec import build
from karat.errors import EngineError, InputError, ProcessError
from karat.system.processes import run_command

CORPUS = from_texts({"a.py": "one\ntwo\nthree\n", "b/c.py": "four\n"})


def engine_of(
    code: str, *further: str, environ: dict[str, str] | None = None, **options: Any
) -> CommandEngine:
    """Return an engine that runs Python *code*, indexed."""
    command = [sys.executable, "-c", code]
    given = CommandOptions(command=[*command, *further], **options)
    engine = CommandEngine(given, environ=environ)
    engine.index(CORPUS)
    return engine


def is_running(pid: str) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    # The state follows the name, which is in brackets; a zombie does not run.
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def prints(text: str, **options: Any) -> CommandEngine:
    return engine_of("import sys; print(sys.argv[1])", text, **options)


def test_octocodes_array() -> None:
    printed = (
        '[{"path": "a.py", "start_line": 2, "end_line": 3, "distance": 0.1}, '
        '{"path": "b/c.py", "start_line": 1, "end_line": 1, "distance": 0.4}]'
    )
    with prints(printed, output="octocode") as engine:
        hits = [(h.path, h.start_line, h.end_line, h.score) for h in engine.search("x", 5)]
    assert hits == [("a.py", 2, 3, -0.1), ("b/c.py", 1, 1, -0.4)]


@pytest.mark.parametrize("kind", ["command", "process"])
def test_a_relative_script_is_named_with_here_and_its_absolute_path(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mysearch.py").write_text("print('[]')\n")
    engine = build({"engine": kind, "command": [sys.executable, "mysearch.py"]})
    assert isinstance(engine, External)

    def search() -> None:
        engine.index(CORPUS)
        engine.search("x", 5)

    with engine, pytest.raises(EngineError, match="commands run in the corpus folder") as caught:
        search()
    hint = (
        "write '{here}/mysearch.py' in the engine's YAML file, where {here} is its folder, "
        f"or {str(tmp_path / 'mysearch.py')!r}, instead of 'mysearch.py'"
    )
    assert str(caught.value).endswith(hint)


def test_a_missing_script_is_named_with_here() -> None:
    engine = build({"engine": "command", "command": [sys.executable, "./mysearch.py"]})
    engine.index(CORPUS)
    with pytest.raises(EngineError, match=r"write '\{here\}/mysearch\.py' in the engine's YAML"):
        engine.search("x", 5)
    program = build({"engine": "command", "command": ["./mysearch.py", "{query}"]})
    with pytest.raises(InputError, match=r"no such program: .*; write '\{here\}/mysearch\.py'"):
        program.index(CORPUS)


def test_here_needs_a_file() -> None:
    with pytest.raises(InputError, match="this engine was not read from a file; write an absolute"):
        build({"engine": "command", "command": ["python3", "{here}/mysearch.py"]})


def test_lines_from_0() -> None:
    with prints('[{"path": "a.py", "lines": [0, 1]}]', lines="lines", first_line=0) as engine:
        assert engine.search("x", 5)[0][2:4] == (1, 2)


def test_a_pattern_reads_text() -> None:
    pattern = r"^(?P<score>[\d.]+) (?P<path>\S+):(?P<start>\d+)"
    with prints("0.5 a.py:2\nnoise\n0.7 b/c.py:1", output="regex", pattern=pattern) as engine:
        assert [hit.path for hit in engine.search("x", 5)] == ["a.py", "b/c.py"]
        assert engine.mended == {"scores not descending": 1}
    with prints(
        "0.5 a.py:2\n0.7 b/c.py:1", output="regex", pattern=pattern, order="score"
    ) as engine:
        assert [(h.path, h.score) for h in engine.search("x", 5)] == [
            ("b/c.py", 0.7),
            ("a.py", 0.5),
        ]


def test_bad_hits_are_dropped_and_counted() -> None:
    printed = (
        '["a.py", "a.py", "../a.py", "/etc/passwd", "no.py", 7, '
        '{"path": "a.py", "start_line": 3, "end_line": 2}, '
        '{"path": "a.py", "start_line": 0, "end_line": 2}, '
        '{"path": "a.py", "start_line": "x"}, '
        '{"path": "a.py", "start_line": 9}, '
        '{"path": "a.py", "start_line": 2, "end_line": 9}]'
    )
    with prints(printed) as engine:
        hits = engine.search("x", 20)
        assert [(h.path, h.start_line, h.end_line) for h in hits] == [
            ("a.py", 0, 0),
            ("a.py", 2, 3),
        ]
        assert engine.invalid == {
            "duplicate": 1,
            "outside the root": 2,
            "not in the corpus": 2,
            "end before start": 1,
            "line below 1": 2,
            "past the last line": 1,
        }
        assert engine.mended == {"end past the last line": 1}


@pytest.mark.parametrize(
    ("code", "options", "message"),
    [
        ("print('garbage')", {}, "returned text that is not JSON: 'garbage"),
        ("", {}, "returned nothing; expected one JSON value"),
        ("print(7)", {}, "no list of hits in the answer '7'"),
        ("print('x')", {"output": "jsonl"}, "not JSON: 'x'"),
        ("print('x')", {"output": "rg"}, "printed 'x'; expected the events of rg --json"),
        ("raise SystemExit('broken index')", {}, "exit code 1: broken index$"),
        ("import os; os.kill(os.getpid(), 9)", {}, "exit code -9"),
        ("while True: print('x' * 10_000)", {"max_bytes": 100_000}, "more than 100,000 bytes"),
        ("import time; time.sleep(60)", {"timeout_s": 0.2}, "took longer than 0.2 s"),
        (
            "import os, time; os.close(1); os.close(2); time.sleep(60)",
            {"timeout_s": 0.3},
            "took longer than 0.3 s",
        ),
    ],
)
def test_misbehaviour(code: str, options: dict[str, Any], message: str) -> None:
    with engine_of(code, **options) as engine, pytest.raises(EngineError, match=message) as caught:
        engine.search("login", 3)
    assert isinstance(caught.value.__cause__, TimeoutError) == ("took longer" in message)


LOGS = "; expected one JSON value; print logs to standard error"
PLAIN = (
    "; expected one JSON value; "
    'print a list such as [{"path": "a.py", "score": 1}], or set output: regex and a pattern'
)


@pytest.mark.parametrize(
    ("output", "options", "hint"),
    [
        ('[INFO] loading [1/3]\n[{"path": "a.py"}]', {}, LOGS),
        ('2 hits: ["a.py"]', {}, LOGS),
        ('[{"path": "a.py"}]\ndone', {}, LOGS),
        ("[12] found\na.py:3", {}, PLAIN),
        ("[" * 5_000, {}, PLAIN),
        (
            '{"path": "a.py"}\n{"path": "b.py"}',
            {},
            "; set output: jsonl for one JSON value per line",
        ),
        ("", {}, "returned nothing; expected one JSON value; print [] if there is no hit"),
        ('loading\n{"path": "a.py"}', {"output": "jsonl"}, LOGS),
        ("a.py", {"output": "jsonl"}, "for each hit, or set output: regex and a pattern"),
    ],
)
def test_output_that_is_not_json_has_a_hint(
    output: str, options: dict[str, Any], hint: str
) -> None:
    with prints(output, **options) as engine, pytest.raises(EngineError) as caught:
        engine.search("login", 3)
    assert str(caught.value).endswith(hint)


def test_a_traceback_begins_with_its_last_line() -> None:
    code = "import sys; print('loading\\n' * 20, file=sys.stderr)\n{}['index']"
    with engine_of(code, name="exc") as engine, pytest.raises(EngineError) as caught:
        engine.search("login", 3)
    first, *rest = str(caught.value).split("\n")
    assert first == "exc: exit code 1: KeyError: 'index'"
    assert len(rest) == 12
    assert rest[-1] == "    KeyError: 'index'"
    assert all(line.startswith("    ") for line in rest)
    assert any(line.startswith("      File ") for line in rest)


def test_the_last_lines_of_both_streams_are_shown() -> None:
    code = "import sys; print('no index'); print('slow disk', file=sys.stderr); sys.exit(2)"
    with engine_of(code, name="exc") as engine, pytest.raises(EngineError) as caught:
        engine.search("login", 3)
    assert str(caught.value) == "exc: exit code 2: slow disk\n    it printed 'no index'"


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc to see other processes")
@pytest.mark.parametrize("leader_stays", [True, False])
def test_a_timeout_ends_the_whole_group(tmp_path: Path, *, leader_stays: bool) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n" + "time.sleep(600)\n" * leader_stays
    )
    # Without its leader the child still holds the pipe.
    with engine_of(code, timeout_s=2) as engine, pytest.raises(EngineError, match="took longer"):
        engine.search("x", 1)
    # The signal is sent; the system may take a moment to act on it.
    deadline = monotonic() + 10
    while is_running(note.read_text()):
        assert monotonic() < deadline
        os.sched_yield()


def test_the_directory_is_the_corpus_and_the_environment_is_a_list() -> None:
    code = (
        "import json, os\n"
        "assert sorted(os.listdir()) == ['a.py', 'b'], os.listdir()\n"
        "names = sorted(set(os.environ) - {'LC_CTYPE', 'PATH'})\n"
        "print(json.dumps([{'path': 'a.py', 'symbol': ','.join(names)}]))"
    )
    environ = {"PATH": os.environ["PATH"], "ALLOWED": "yes", "SECRET": "hidden", "OTHER": "no"}
    with engine_of(code, environ=environ, env=["ALLOWED"]) as engine:
        assert engine.search("x", 1)[0].symbol == "ALLOWED"
    with engine_of(code, environ=environ, env={"A": "{env:SECRET}", "B": "2"}) as engine:
        assert engine.search("x", 1)[0].symbol == "A,B"


def test_secrets_stay_out_of_errors() -> None:
    environ = {"PATH": os.environ["PATH"], "API_KEY": "hunter2-hunter2"}
    code = "import os, sys; sys.exit('bad key ' + os.environ['API_KEY'])"
    engine = engine_of(code, environ=environ, env=["API_KEY"])
    with engine, pytest.raises(EngineError) as caught:
        engine.search("x", 1)
    assert "bad key {env:API_KEY}" in str(caught.value)
    assert "hunter2" not in repr(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"command": "rg x"}, "command: expected a list of arguments, because no shell"),
        ({"command": []}, "command: List should have at least 1 item"),
        ({"command": ["rg", "{qeury}"]}, "did you mean {query}"),
        ({"command": ["rg", "{env:KEY}"]}, "{env:KEY} is unknown"),
        ({"command": ["{query}"]}, "the program itself cannot depend on the query"),
        ({"command": ["rg"], "tiemout_s": 3}, "no option 'tiemout_s'; did you mean 'timeout_s'"),
        ({"command": ["rg"], "timeout_s": 0}, "timeout_s: Input should be greater than 0"),
        ({"command": ["rg"], "output": "regex"}, "pattern and output: regex need each other"),
        ({"command": ["rg"], "output": "regex", "pattern": "("}, "not a regular expression"),
        ({"command": ["rg"], "output": "regex", "pattern": "x"}, "no group"),
        ({"command": ["rg"], "output": "regex", "pattern": "(?P<path>x)(?P<z>y)"}, "group 'z'"),
        ({"command": ["rg"], "output": "rg", "hits": "$.x"}, "hits is not used with output: rg"),
        ({"command": ["rg"], "hits": "$.["}, "is not a JSONPath"),
        ({"command": ["rg"], "score": "a", "distance": "b"}, "exclude each other"),
        ({"command": ["rg"], "env": {"API_KEY": "hunter2"}}, "'API_KEY' contains a secret"),
        ({}, "the option 'command' is missing"),
    ],
)
def test_configurations_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"engine": "command", **options})
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_program_of_the_corpus_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a relative path nor a dot on the search path leads into the corpus."""
    corpus = from_texts({"evil": "#!/bin/sh\necho pwned\n"})
    for command, environ in (("./evil", {}), ("evil", {"PATH": ".:"}), ("evil", {"PATH": ""})):
        engine = CommandEngine(CommandOptions(command=[command]), environ=environ)
        with pytest.raises(InputError, match="no such program"):
            engine.index(corpus)


def test_run_reports_what_cannot_start(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    plain.chmod(0o755)
    with pytest.raises(ProcessError, match=r"cannot start .*format"):
        run_command([str(plain)], root=str(tmp_path), environment={}, timeout_s=5, max_bytes=10)
    with pytest.raises(ProcessError, match=r"cannot start .*long"):
        run_command(
            [sys.executable, "x" * 10_000_000], root="", environment={}, timeout_s=5, max_bytes=10
        )


def test_an_empty_corpus_starts_nothing(corpus: Corpus) -> None:
    engine = CommandEngine(CommandOptions(command=["no-such-program-at-all"]))
    engine.index(from_texts({}))
    assert engine.search("x", 1) == ()
    with pytest.raises(InputError, match="no such program: 'no-such-program-at-all'"):
        engine.index(corpus)
