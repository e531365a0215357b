"""A process that dies, floods, hangs or talks nonsense."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import from_texts
from karat.engines.adapters import process
from karat.engines.adapters.process import ProcessEngine, ProcessOptions
from karat.errors import EngineError
from karat.system import processes
from karat.system.processes import ChildProcess

CORPUS = from_texts({"a.py": "one\n"})

# Answers every request; `act` may do something else with a search.
PROGRAM = """
import json, os, sys, time
note = sys.argv[1]
open(note, "a").write("start ")
def answer(request, **fields):
    print(json.dumps({"id": request["id"], **fields}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    starts = open(note).read().count("start")
    if request["op"] == "index":
        answer(request)
        continue
    query = request["query"]
    if query == "die once" and starts == 1 or query == "die":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)
    elif query == "garbage":
        print("INFO searching", flush=True)
    elif query == "wrong id":
        answer({"id": 10**6}, hits=[])
    elif query == "error":
        answer(request, error="index is corrupt")
    elif query == "no hits field":
        answer(request)
    elif query == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif query == "lines":
        while True:
            print("{}")
    elif query == "hang":
        time.sleep(600)
    elif query == "chatter":
        for _ in range(2000):
            print("x" * 100, file=sys.stderr)
        answer(request, hits=["a.py"])
    else:
        answer(request, hits=["a.py"])
"""


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note"


def opened(note: Path, **options: Any) -> ProcessEngine:
    command = [sys.executable, "-c", PROGRAM, str(note)]
    given: dict[str, Any] = {"command": command, "timeout_s": 5, "max_bytes": 200_000, **options}
    engine = ProcessEngine(ProcessOptions(**given))
    engine.index(CORPUS)
    return engine


def test_one_process_answers_many(note: Path) -> None:
    with opened(note) as engine:
        for query in ("one", "two", "chatter", "x" * 300_000):
            assert [hit.path for hit in engine.search(query, 1)] == ["a.py"]
    assert note.read_text() == "start "


def test_one_that_dies_is_started_again(note: Path) -> None:
    with opened(note) as engine:
        assert [hit.path for hit in engine.search("die once", 1)] == ["a.py"]
        assert engine.restarts == 1
    assert note.read_text() == "start start "


def test_one_that_dies_again_is_given_up(note: Path) -> None:
    with opened(note) as engine:
        message = (
            "the process died, was restarted and died again; its process ended with exit code 9; "
            "its error output: 'out of memory'"
        )
        with pytest.raises(EngineError, match=message):
            engine.search("die", 1)
        assert note.read_text() == "start start "
        assert engine.search("fine again", 1)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("garbage", "printed 'INFO searching'; expected an object with id 2"),
        ("wrong id", "expected an object with id 2"),
        ("flood", "more than 200,000 bytes"),
        ("lines", "printed '{}'"),
        ("hang", "took longer than 1 s"),
    ],
)
def test_misbehaviour_ends_the_process(note: Path, query: str, message: str) -> None:
    with opened(note, timeout_s=1 if query == "hang" else 60) as engine:
        with pytest.raises(EngineError, match=message) as caught:
            engine.search(query, 1)
        assert isinstance(caught.value.__cause__, TimeoutError) == (query == "hang")
        # What the old process may still say is no answer to this.
        assert engine.search("fine again", 1)
    assert note.read_text() == "start start "


@pytest.mark.parametrize(
    ("query", "message"),
    [("error", "returned an error: 'index is corrupt'"), ("no hits field", "no list of hits")],
)
def test_an_error_that_is_told_keeps_the_process(note: Path, query: str, message: str) -> None:
    with opened(note) as engine:
        with pytest.raises(EngineError, match=message):
            engine.search(query, 1)
        assert engine.search("fine", 1)
    assert note.read_text() == "start "


@pytest.mark.parametrize(
    ("code", "message", "timeout_s"),
    [
        ("raise SystemExit('no model')", "its error output: 'no model'", 60),
        # It stays: an end is another case.
        ("print('hello', flush=True); import sys; sys.stdin.read()", "printed 'hello'", 60),
        ("import time; time.sleep(600)", "took longer than 0.5 s", 0.5),
    ],
)
def test_one_that_never_gets_ready(code: str, message: str, timeout_s: float) -> None:
    command = [sys.executable, "-c", code]
    engine = ProcessEngine(ProcessOptions(command=command, index_timeout_s=timeout_s))
    with pytest.raises(EngineError, match=message):
        engine.index(CORPUS)


ENDS = (
    "import os, sys\n"
    "def say():\n"
    "    print('loading', flush=True)\n"
    "    print('no model', end='', flush=True)\n"
    "    print('set MODEL', file=sys.stderr, flush=True)\n"
)


@pytest.mark.parametrize(
    "when",
    [
        pytest.param("say()", id="before the request"),
        pytest.param("sys.stdin.readline(); say()", id="after the request"),
        pytest.param("os.close(0); import time; time.sleep(0.4); say()", id="closed its input"),
    ],
)
def test_the_last_lines_of_one_that_ends_early(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A busy machine takes its time.
    monkeypatch.setattr(process, "EXIT_S", 60)
    monkeypatch.setattr(processes, "END_S", 60)
    command = [sys.executable, "-c", f"{ENDS}{when}; sys.exit(3)"]
    engine = ProcessEngine(ProcessOptions(command=command, name="toy"))
    with pytest.raises(EngineError) as caught:
        engine.index(CORPUS)
    assert str(caught.value) == (
        "toy: its process ended with exit code 3; its error output: 'set MODEL'; it printed "
        "'loading\\nno model'; expected JSON objects, each on one line (logs belong on "
        "standard error)"
    )


def test_one_that_has_ended_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    send = ChildProcess.send

    def late(child: ChildProcess, line: bytes, deadline: float) -> None:
        assert child.exit_code(wait_s=60) == 3
        send(child, line, deadline)

    monkeypatch.setattr(ChildProcess, "send", late)
    test_the_last_lines_of_one_that_ends_early("say()", monkeypatch)


def test_one_that_cannot_index_is_ended() -> None:
    code = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'error': str(os.getpid())}), "
        "flush=True)\n"
    )
    engine = ProcessEngine(ProcessOptions(command=[sys.executable, "-c", code]))
    with pytest.raises(EngineError, match=r"returned an error: '[0-9]+'") as caught:
        engine.index(CORPUS)
    pid = int(str(caught.value).split("'")[-2])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_that_ignores_the_end_of_its_input_is_ended() -> None:
    code = (
        "import json, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(json.dumps({'id': json.loads(sys.stdin.readline())['id']}), flush=True)\n"
        "time.sleep(600)\n"
    )
    engine = ProcessEngine(ProcessOptions(command=[sys.executable, "-c", code]))
    engine.index(CORPUS)
    engine.close()
