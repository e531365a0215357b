"""A process that outlives nobody."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from karat.runner import Source
from karat.runner.process import EngineProcess, Failure, Indexed, Reply
from tests.runner.conftest import TEXTS, alive, toy

# Is killed while an engine of its own searches for ever.
KARAT = """
import sys
sys.path[:0] = sys.argv[1:3]
from conftest import TEXTS, toy
from karat.runner import Source
from karat.runner.process import EngineProcess
process = EngineProcess()
process.open(toy("Bad"))
process.show(Source.of_texts(TEXTS), 60)
print(process.pid, flush=True)
process.ask("hang", first=True, timeout_s=600)
"""


def test_ask_after_show() -> None:
    process = EngineProcess()
    try:
        assert process.open(toy("Good")) is None
        assert isinstance(process.show(Source.of_texts(TEXTS), 60), Indexed)
        reply = process.ask("a", first=True, timeout_s=60)
        assert isinstance(reply, Reply)
        assert [hit.path for hit in reply.hits] == sorted(TEXTS)
        again = process.ask("a", first=False, timeout_s=60)
        assert isinstance(again, Reply)
        assert (again.same, again.hits) == (True, ())
    finally:
        process.close()
    process.close()
    gone = process.ask("a", first=True, timeout_s=60)
    assert isinstance(gone, Failure)
    assert gone.gone
    assert not alive(process.pid)


def test_an_option_that_does_not_exist_is_the_users_error() -> None:
    process = EngineProcess()
    try:
        failure = process.open(toy("Good", colour="red"))
        assert failure is not None
        assert failure.wrong
        assert "colour" in failure.message
    finally:
        process.close()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to wait for a stranger")
def test_it_leaves_when_karat_is_killed(tmp_path: Path) -> None:
    here = Path(__file__).parent
    command = [sys.executable, "-c", KARAT, str(here), str(here / "programs")]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as karat:
        assert karat.stdout is not None
        engine = int(karat.stdout.readline())
        watched = os.pidfd_open(engine)
        try:
            karat.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([watched], [], [], 30)
            assert ended
        finally:
            os.close(watched)
