"""A process that outlives nobody."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from karat.runner import Source
from karat.runner.process import EngineProcess, Failure, Reply
from tests.runner.conftest import TEXTS, alive, toy

# Is killed while an engine of its own searches for ever.
KARAT = """
import sys
sys.path[:0] = sys.argv[1:3]
from conftest import TEXTS, toy
from karat.runner import Source
from karat.runner.process import EngineProcess
process = EngineProcess()
process.open({0: toy("Bad")}, apart=False)
process.show(Source.of_texts(TEXTS), 60)
print(process.pid, flush=True)
process.ask("hang", [0], first=True, timeout_s=600)
"""


def only(replies: list[Reply | Failure] | Failure) -> Reply | Failure:
    if isinstance(replies, Failure):
        return replies
    [reply] = replies
    return reply


def test_ask_after_show() -> None:
    process = EngineProcess()
    try:
        assert process.open({7: toy("Good")}, apart=False) == {}
        indexed = process.show(Source.of_texts(TEXTS), 60)
        assert not isinstance(indexed, Failure)
        assert {member: found.documents for member, found in indexed.items()} == {7: 2}
        reply = only(process.ask("a", [7], first=True, timeout_s=60))
        assert isinstance(reply, Reply)
        assert [hit.path for hit in reply.hits] == sorted(TEXTS)
        again = only(process.ask("a", [7], first=False, timeout_s=60))
        assert isinstance(again, Reply)
        assert (again.same, again.hits) == (True, ())
    finally:
        process.close()
    process.close()
    gone = process.ask("a", [7], first=True, timeout_s=60)
    assert isinstance(gone, Failure)
    assert gone.gone
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
