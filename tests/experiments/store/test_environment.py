import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from socket import gethostname

import pytest

from karat.experiments.store.database import environment, is_alive, this_worker
from karat.testing.store import dead_worker


def test_the_environment() -> None:
    found = environment()
    assert found["python"] == platform.python_version()
    assert found["cores"] == os.cpu_count()
    assert found["cpu"]
    packages = found["packages"]
    assert isinstance(packages, dict)
    assert packages["sqlalchemy"] == version("sqlalchemy")
    assert packages["numpy"] == version("numpy")
    assert json.loads(json.dumps(dict(found))) == found


def test_workers_live_and_die() -> None:
    assert is_alive(this_worker())
    assert not is_alive(dead_worker())
    assert is_alive("another-machine:1")
    # The first process of the system, which perhaps nobody else may signal.
    assert is_alive(f"{gethostname()}:1")


def test_a_number_that_was_given_again() -> None:
    mine = this_worker()
    name, _, started = mine.partition("@")
    if not started:
        pytest.skip("this system has no start time of processes")
    assert is_alive(name)
    assert is_alive(mine)
    assert not is_alive(f"{name}@{int(started) + 1}")


def test_one_that_nobody_has_asked_how_it_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout
        # Its output ends with it; it stays in the table of processes until it is waited for.
        process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(f"{gethostname()}:{process.pid}")


def test_a_process_of_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert is_alive(this_worker())
    # Where the system tells nothing else, it may be alive.
    assert is_alive(f"{gethostname()}:999999999")


@pytest.mark.parametrize(
    "code",
    ["import karat.experiments.store", "import karat.cli.commands.score, karat.scoring.score"],
)
def test_sqlalchemy_is_imported_late(code: str) -> None:
    probe = f"{code}\nimport sys; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
