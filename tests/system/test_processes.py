"""Processes below one are found and ended, and memory is that of the process itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from karat.system import processes
from karat.system.processes import descendants, kill_below, peak_bytes, resident_bytes

# Starts a program in a session of its own, tells its number, and waits.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                         start_new_session=True)
print(child.pid, flush=True)
print(child.wait(), flush=True)
"""


def test_a_child_in_another_session_is_found_and_killed() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert parent.pid in descendants(os.getpid())
        assert child in descendants(parent.pid)
        kill_below(parent.pid)
        assert parent.stdout.readline() == b"-9\n"


def test_nothing_is_below_a_process_that_is_no_more() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        assert descendants(ended.pid) == []
        kill_below(ended.pid)


def test_the_memory_of_whoever_started_a_process_is_not_its_own() -> None:
    held = b"x" * 300_000_000
    probe = "from karat.system.processes import peak_bytes; print(peak_bytes())"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    assert 1_000_000 < int(done.stdout) < 200_000_000
    assert peak_bytes() > len(held)


def test_memory_now_is_at_most_the_peak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert 0 < resident_bytes() <= peak_bytes()
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert resident_bytes() > 0
