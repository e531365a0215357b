"""A process that outlives nobody."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from karat.experiments.workers import Source
from karat.experiments.workers import process as processes
from karat.experiments.workers.process import (
    BOOT,
    EngineFailure,
    EngineProcess,
    IndexProgress,
    SearchRequest,
    WorkerReply,
)
from karat.system.processes import ChildProcess
from tests.experiments.workers.conftest import TEXTS, alive, toy

pytestmark = pytest.mark.usefixtures("new_interpreters")

# Is killed while an engine of its own searches for ever.
KARAT = """
import sys
sys.path[:0] = sys.argv[1:3]
from conftest import TEXTS, toy
from karat.experiments.workers import Source
from karat.experiments.workers.process import EngineProcess, SearchRequest
process = EngineProcess()
process.open({0: toy("Bad")}, apart=False)
process.index(Source.of_texts(TEXTS), 60)
print(process.pid, flush=True)
process.search(SearchRequest("hang", [0], 600))
"""


def only(replies: list[WorkerReply | EngineFailure] | EngineFailure) -> WorkerReply | EngineFailure:
    if isinstance(replies, EngineFailure):
        return replies
    [reply] = replies
    return reply


def test_progress_is_passed_on_while_it_indexes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "TICK_S", 0.01)
    go = tmp_path / "go"
    seen: list[IndexProgress] = []

    def watch(stage: IndexProgress) -> None:
        seen.append(stage)
        # The last one comes again, so that nobody takes it for hung.
        if seen.count(IndexProgress("embedding", 0, 2)) == 3:
            go.touch()

    process = EngineProcess()
    try:
        assert process.open({0: toy("Slow", go=str(go))}, apart=False, watch=watch) == {}
        assert set(seen) <= {IndexProgress("loading")}
        seen.clear()
        indexed = process.index(Source.of_texts(TEXTS), 60, watch=watch)
        assert not isinstance(indexed, EngineFailure)
        reply = only(process.search(SearchRequest("a", [0], 60)))
    finally:
        process.close()
    assert isinstance(reply, WorkerReply)
    assert [hit.path for hit in reply.hits] == sorted(TEXTS)
    assert set(seen) <= {IndexProgress("indexing"), IndexProgress("embedding", 0, 2)}
    assert seen.count(IndexProgress("embedding", 0, 2)) >= 3


def test_indexing_that_takes_too_long_is_ended_whoever_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "TICK_S", 0.01)
    seen: list[IndexProgress] = []
    process = EngineProcess()
    try:
        process.open({0: toy("Slow", go=str(tmp_path / "never"))}, apart=False)
        failed = process.index(Source.of_texts(TEXTS), 0.5, watch=seen.append)
    finally:
        process.close()
    assert isinstance(failed, EngineFailure)
    assert (failed.reason, failed.gone) == ("timeout", True)
    assert seen


def test_ask_after_show() -> None:
    process = EngineProcess()
    try:
        assert process.open({7: toy("Good")}, apart=False) == {}
        indexed = process.index(Source.of_texts(TEXTS), 60)
        assert not isinstance(indexed, EngineFailure)
        assert {member: found.documents for member, found in indexed.items()} == {7: 2}
        reply = only(process.search(SearchRequest("a", [7], 60)))
        assert isinstance(reply, WorkerReply)
        assert [hit.path for hit in reply.hits] == sorted(TEXTS)
        again = only(process.search(SearchRequest("a", [7], 60, first=False)))
        assert isinstance(again, WorkerReply)
        assert (again.same, again.hits) == (True, ())
    finally:
        process.close()
    process.close()
    gone = process.search(SearchRequest("a", [7], 60))
    assert isinstance(gone, EngineFailure)
    assert gone.gone
    assert not alive(process.pid)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[tuple[EngineProcess, Callable[[], list[str]]]]:
    """Return a process with an engine that misbehaves, and what tells what it was asked."""
    process, note = EngineProcess(), tmp_path / "note"
    process.open({0: toy("Bad", note=str(note))}, apart=False)
    process.index(Source.of_texts(TEXTS), 60)
    yield process, lambda: [line.split(maxsplit=1)[1] for line in note.read_text().splitlines()]
    process.close()


Asked = tuple[EngineProcess, Callable[[], list[str]]]


def question(query: str, timeout_s: float = 60.0) -> SearchRequest:
    return SearchRequest(query, [0], timeout_s)


def paths(replies: list[WorkerReply | EngineFailure] | EngineFailure) -> list[str]:
    reply = only(replies)
    assert isinstance(reply, WorkerReply)
    return [hit.path for hit in reply.hits]


def test_what_is_asked_next_is_asked_once(asked: Asked) -> None:
    process, queries = asked
    assert paths(process.search(question("a"), then=question("b"))) == sorted(TEXTS)
    assert paths(process.search(question("b"), then=question("c"))) == sorted(TEXTS)
    assert paths(process.search(question("c"))) == sorted(TEXTS)
    assert queries() == ["index", "a", "b", "c"]


def test_another_question_than_the_announced_one_gets_its_own_answer(asked: Asked) -> None:
    process, queries = asked
    process.search(question("a"), then=question("fail"))
    assert paths(process.search(question("b"))) == sorted(TEXTS)
    assert queries() == ["index", "a", "fail", "b"]
    process.search(question("c"), then=question("d"))
    assert process.peak_bytes() > 0


def test_long_questions_and_long_answers_do_not_wait_for_each_other() -> None:
    # More than a pipe holds, in both directions.
    texts = {f"{'long' * 20}/{number}.py": "" for number in range(3_000)}
    queries = ["a" * 100_000, "b" * 100_000, "c"]
    process = EngineProcess()
    try:
        process.open({0: replace(toy("Good"), k=len(texts))}, apart=False)
        process.index(Source.of_texts(texts), 60)
        for query, then in pairwise(map(question, queries)):
            assert len(paths(process.search(query, then))) == len(texts)
    finally:
        process.close()


@pytest.mark.parametrize(
    ("next_one", "timeout_s", "reason"), [("leave", 60.0, "agent_error"), ("hang", 1.0, "timeout")]
)
def test_what_harms_is_the_next_question_and_not_this_one(
    asked: Asked, next_one: str, timeout_s: float, reason: str
) -> None:
    process, _ = asked
    assert paths(process.search(question("a"), then=question(next_one))) == sorted(TEXTS)
    failure = process.search(question(next_one, timeout_s))
    assert isinstance(failure, EngineFailure)
    assert (failure.reason, failure.gone) == (reason, True)
    assert not alive(process.pid)


def test_who_is_gone_when_asked_ahead_has_answered_before(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, _ = asked
    send, lines = ChildProcess.send, []

    def broken(child: ChildProcess, line: bytes, deadline: float) -> None:
        lines.append(line)
        if len(lines) > 1:
            raise EOFError
        send(child, line, deadline)

    monkeypatch.setattr(ChildProcess, "send", broken)
    assert paths(process.search(question("a"), then=question("b"))) == sorted(TEXTS)
    failure = process.search(question("b"))
    assert isinstance(failure, EngineFailure)
    assert (failure.reason, failure.gone) == ("agent_error", True)


def test_one_that_hangs_unwanted_is_ended(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.experiments.workers.process.CLOSE_S", 0.2)
    process, _ = asked
    process.search(question("a"), then=question("hang"))
    process.close()
    assert not alive(process.pid)


def test_an_option_that_does_not_exist_is_the_users_error() -> None:
    process = EngineProcess()
    try:
        failures = process.open({3: toy("Good", colour="red"), 4: toy("Good")}, apart=False)
        assert isinstance(failures, dict)
        [(member, failure)] = failures.items()
        assert member == 3
        assert failure.wrong
        assert "colour" in failure.message
    finally:
        process.close()


@pytest.mark.parametrize("request_line", [b'{"op": "peak"}\n', b'{"op": '])
def test_its_folder_goes_when_nobody_waits_for_its_answer(
    tmp_path: Path, request_line: bytes
) -> None:
    folder = tmp_path / "of the engine"
    folder.mkdir()
    command = [sys.executable, "-c", BOOT, str(folder), json.dumps(sys.path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(request_line)
        process.stdin.close()
        process.wait(60)
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to wait for a stranger")
@pytest.mark.parametrize("stopped", [False, True])
def test_it_leaves_when_karat_is_killed(tmp_path: Path, *, stopped: bool) -> None:
    here = Path(__file__).parent
    command = [sys.executable, "-c", KARAT, str(here), str(here / "programs")]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as karat:
        assert karat.stdout is not None
        engine = int(karat.stdout.readline())
        watched = os.pidfd_open(engine)
        try:
            if stopped:
                os.kill(engine, signal.SIGSTOP)
            karat.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([watched], [], [], 30)
            assert ended
        finally:
            os.close(watched)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="variables are read from /proc")
def test_a_process_gets_variables_that_this_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_TEST_SET", "here")
    process = EngineProcess({"KARAT_TEST_SET": "driver", "KARAT_TEST_LACKING": "driver"})
    try:
        variables = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
    finally:
        process.kill()
    assert {"KARAT_TEST_SET=here", "KARAT_TEST_LACKING=driver"} <= set(variables)
