"""--executor and KARAT_EXECUTOR choose where worker processes run."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.threads import ThreadExecutor
from karat.installation import __version__

Karat = Callable[..., CompletedProcess[str]]

COMMANDS = [
    ("evaluate", "names.csv"),
    ("compare", "names.csv", "--agents", "bm25"),
    ("sweep", "names.csv", "--suite", "quick_test"),
]
SMALL = ("--corpus", "project", "--timed", "none", "--draws", "99")


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Let a connection that was given up end by itself."""


@pytest.fixture(autouse=True)
def project(folder: Path) -> None:
    (folder / "project").mkdir()
    (folder / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    (folder / "names.csv").write_text(
        "query,result1\nwhere is login,login.py:1-1:1\n", encoding="utf-8"
    )


@pytest.mark.together_with("models")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_executor_lists_the_valid_ones(karat: Karat, command: tuple[str, ...]) -> None:
    done = karat(*command, *SMALL, "--executor", "dusk://head:8786")
    assert done.returncode == 2
    assert "unknown scheme 'dusk'; expected local" in done.stderr
    assert not Path(".karat").exists()


def test_the_environment_names_an_executor(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_EXECUTOR", "local:none")
    done = karat(*COMMANDS[0], *SMALL)
    assert done.returncode == 2
    assert "executor local:none" in done.stderr
    done = karat(*COMMANDS[0], *SMALL, "--executor", "local:2")
    assert done.returncode == 0, done.stderr


def test_this_machine_is_no_slot_to_time_on(karat: Karat) -> None:
    done = karat(*COMMANDS[0], *SMALL[:2], "--timed-on", "1")
    assert done.returncode == 2
    assert "--timed-on 1: all slots of the local executor are on this machine" in done.stderr
    assert not Path(".karat").exists()


def test_timing_elsewhere_needs_timed_queries(karat: Karat) -> None:
    done = karat(*COMMANDS[0], *SMALL, "--timed-on", "1")
    assert done.returncode == 2
    assert "--timed-on needs timed queries" in done.stderr


def connect(monkeypatch: pytest.MonkeyPatch, slots: Sequence[Slot]) -> None:
    """Let every executor have these *slots*."""
    for module in ("karat.app.evaluate", "karat.extensions.cluster.slots"):
        monkeypatch.setattr(f"{module}.open_executor", lambda *_, **__: ThreadExecutor(slots=slots))


@pytest.mark.together_with("models")
@pytest.mark.parametrize("command", COMMANDS)
def test_latency_is_measured_on_a_named_machine(
    karat: Karat, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    slots = [Slot("s1", "node6"), Slot("s2", "node7")]
    connect(monkeypatch, slots)
    options = ("--corpus", "project", "--draws", "99", "--timed", "1")
    done = karat(*command, *options, "--timed-on", "node7", "-o", "report.md")
    assert done.returncode == 0, done.stderr
    assert "latency measured on node7" in Path("report.md").read_text(encoding="utf-8")
    done = karat(*command, *options, "--timed-on", "node8")
    assert done.returncode == 2
    assert "no such slot or machine; the slots are\ns1  node6\ns2  node7" in done.stderr


def test_run_files_need_no_executor(karat: Karat) -> None:
    done = karat("compare", "gold.qrels", "old.run", "new.run", "--executor", "local")
    assert done.returncode == 2
    assert "--executor: only for engines, not for runs" in done.stderr


def test_the_slots_of_an_executor_are_listed(karat: Karat) -> None:
    done = karat("executors", "local:2")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "2 slots, 2 usable"
    shown = json.loads(karat("executors", "local:2", "--json").stdout)
    assert [slot["id"] for slot in shown["slots"]] == ["1", "2"]
    assert shown["slots"][0]["rejected"] is None
    assert shown["here"]["karat"].startswith(__version__)


def test_a_rejected_slot_is_named(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    other = fingerprint()._replace(weights="wordllama 0.1")
    slots = [Slot("s1", "m1", other), Slot("s2", "m2", None, "cannot run Karat there")]
    connect(monkeypatch, slots)
    done = karat("executors")
    assert done.returncode == 3
    assert "rejected: different weights: wordllama 0.1; expected" in done.stdout
    assert "s2  m2  rejected: cannot run Karat there" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 slots, 0 usable"
    done = karat(*COMMANDS[0], *SMALL)
    assert done.returncode == 3
    assert "no slot can be used\nslot s1: different weights" in done.stderr


def test_an_unsafe_address_is_warned_about(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.cluster.dask.CONNECT_S", 0.1)
    done = karat("executors", "dask://host.invalid:1")
    assert done.returncode in {2, 3}
    assert "warning: tcp://host.invalid:1 is neither encrypted" in done.stderr
