"""Runs that announce themselves, and timed runs that wait for them in turn."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    Callbacks,
    RunSettings,
    SnapshotQueries,
    announcements,
    measure_latency,
)
from karat.experiments.workers.announcements import (
    Holder,
    announce,
    announce_if_idle,
    measure_alone,
    running_folder,
)
from karat.model import Dataset
from tests.experiments.workers.conftest import Kept, gold, toy

PATIENCE_S = 60
ONCE = RunSettings(warm_up=0, repetitions=1)
# Another process announces a run, says so, and stays until its input ends or it is killed.
ANNOUNCING = """
import sys
from pathlib import Path
from karat.experiments.workers.announcements import announce
with announce("sweep", Path(sys.argv[1])):
    print("announced", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcements, "POLL_S", 0.001)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "running"


def never() -> bool:
    return False


def refuse(holders: Sequence[Holder]) -> None:
    raise AssertionError(f"there is nothing to wait for, and not {holders}")


@contextmanager
def another(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a process that has announced a sweep."""
    with subprocess.Popen(
        [sys.executable, "-c", ANNOUNCING, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "announced\n"
            yield process
        finally:
            process.kill()


def files(folder: Path) -> list[Path]:
    return list(folder.glob("*.json"))


def test_a_run_without_latency_never_waits(folder: Path) -> None:
    with (
        announce("compare", folder),
        measure_alone("sweep", waiting=refuse, cancelled=never, wait=False, folder=folder),
        announce("evaluate", folder),
    ):
        said = [json.loads(path.read_text()) for path in files(folder)]
    assert sorted((one["number"], one["command"], one["working"]) for one in said) == [
        (1, "compare", announcements.WORKING),
        (2, "sweep", announcements.MEASURING),
        (3, "evaluate", announcements.WORKING),
    ]
    assert {one["pid"] for one in said} == {os.getpid()}
    assert files(folder) == []


def test_alone_is_undisturbed(folder: Path) -> None:
    for _ in range(2):
        with measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn:
            assert not turn.alone
        assert turn.alone


def test_waiting_names_whom_and_ends_with_them(folder: Path) -> None:
    seen: list[Sequence[Holder]] = []
    with another(folder) as first, another(folder) as second:
        left = [first, second]

        def waiting(holders: Sequence[Holder]) -> None:
            seen.append(holders)
            # Killed, and so it takes nothing back by itself.
            ended = left.pop()
            ended.kill()
            ended.wait(PATIENCE_S)

        with measure_alone("compare", waiting=waiting, cancelled=never, folder=folder) as turn:
            assert len(files(folder)) == 1
    assert [[(one.pid, one.command) for one in holders] for holders in seen] == [
        [(first.pid, "sweep"), (second.pid, "sweep")],
        [(first.pid, "sweep")],
    ]
    assert turn.alone


def test_who_comes_first_is_served_first(folder: Path) -> None:
    order: list[str] = []
    waits = {name: Event() for name in ("first", "second")}

    def measure(name: str) -> None:
        def waiting(_: Sequence[Holder]) -> None:
            waits[name].set()

        with measure_alone(name, waiting=waiting, cancelled=never, folder=folder) as turn:
            order.append(name)
        order.append("alone" if turn.alone else "disturbed")

    threads = [Thread(target=measure, args=(name,)) for name in waits]
    with announce("evaluate", folder):
        for thread, waiting in zip(threads, waits.values(), strict=True):
            thread.start()
            assert waiting.wait(PATIENCE_S)
    for thread in threads:
        thread.join()
    assert order == ["first", "alone", "second", "alone"]


def test_later_runs_neither_hold_it_up_nor_stay_unnoticed(folder: Path) -> None:
    held = announce("evaluate", folder)
    held.__enter__()
    later = announce("sweep", folder)

    def waiting(holders: Sequence[Holder]) -> None:
        assert [one.command for one in holders] == ["evaluate"]
        later.__enter__()
        held.__exit__(None, None, None)

    with measure_alone("compare", waiting=waiting, cancelled=never, folder=folder) as turn:
        pass
    later.__exit__(None, None, None)
    assert not turn.alone


def test_who_comes_meanwhile_disturbs_unless_it_waits(folder: Path) -> None:
    with measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn:
        seen: list[object] = []
        with measure_alone(
            "sweep", waiting=seen.append, cancelled=lambda: bool(seen), folder=folder
        ) as cancelled:
            pass
    assert seen
    assert not cancelled.alone
    assert turn.alone
    with (
        measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn,
        announce("evaluate", folder),
    ):
        pass
    assert not turn.alone
    with (
        measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn,
        measure_alone("sweep", waiting=refuse, cancelled=never, wait=False, folder=folder) as hasty,
    ):
        pass
    assert (turn.alone, hasty.alone) == (False, False)


def test_it_waits_for_a_run_that_measures_without_waiting(folder: Path) -> None:
    work = announce("evaluate", folder)
    hasty = measure_alone("evaluate", waiting=refuse, cancelled=never, wait=False, folder=folder)
    looks = count()

    def waiting(_: Sequence[Holder]) -> None:
        # Its other work ends, and it measures without waiting for who came meanwhile.
        work.__exit__(None, None, None)
        hasty.__enter__()

    def cancelled() -> bool:
        if next(looks) == 5:
            hasty.__exit__(None, None, None)
        return False

    work.__enter__()
    with measure_alone("compare", waiting=waiting, cancelled=cancelled, folder=folder) as turn:
        assert len(files(folder)) == 1
    assert turn.alone


def test_a_run_that_does_not_wait_is_told_who_disturbs_it(folder: Path) -> None:
    seen: list[Sequence[Holder]] = []
    measure = partial(measure_alone, folder=folder)
    with measure("sweep", waiting=refuse, cancelled=never, disturbed=refuse):
        with measure("compare", waiting=refuse, cancelled=never, disturbed=seen.append, wait=False):
            pass
        # A run that only waits disturbs nobody.
        waits: list[Sequence[Holder]] = []
        with measure("load", waiting=waits.append, cancelled=lambda: bool(waits), disturbed=refuse):
            pass
    [[holder]] = seen
    assert (holder.pid, holder.command) == (os.getpid(), "sweep")


def test_one_process_is_named_once(folder: Path) -> None:
    seen: list[Sequence[Holder]] = []
    with (
        announce("sweep", folder),
        announce("sweep", folder),
        measure_alone("compare", waiting=seen.append, cancelled=lambda: bool(seen), folder=folder),
    ):
        pass
    [[holder]] = seen
    assert (holder.pid, holder.command) == (os.getpid(), "sweep")


def test_a_folder_that_cannot_be_used_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "running"
    with (
        announce("evaluate", folder),
        measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn,
    ):
        pass
    assert not turn.alone


def test_a_folder_that_stays_locked_stops_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr("karat.system.locks.TRIES", 3)
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with announce("evaluate", folder):
            assert files(folder) == []


def test_what_is_not_ours_is_passed_over(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "lock").write_text("not JSON")
    (folder / "dead.json").write_text("{}")
    with measure_alone("compare", waiting=refuse, cancelled=never, folder=folder) as turn:
        assert len(files(folder)) == 1
    assert turn.alone


Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]


def test_a_timed_run_says_whom_it_waits_for(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a", "b")

    def waits() -> bool:
        return "waiting" in kept.kinds()

    callbacks = Callbacks(listen=kept.listen, cancelled=waits, command="compare")
    with another(running_folder()) as process:
        [measured] = measure_latency(
            [toy("Good")], dataset, snapshots(dataset), settings=ONCE, callbacks=callbacks
        )
    assert kept.kinds() == ["waiting", "started", "finished"]
    holders = kept.events[0].detail["holders"]
    assert isinstance(holders, list)
    assert [(one["pid"], one["command"]) for one in holders] == [(process.pid, "sweep")]
    assert holders[0]["since"].endswith("+00:00")
    assert measured.notes["status"] == "cancelled"
    # Nothing was measured, so that nothing was disturbed.
    assert measured.timings
    assert measured.timings.alone


def test_machines_with_one_home_folder_do_not_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with announce("sweep"):
        monkeypatch.setattr("karat.system.processes.kernel_id", lambda: "another")
        with measure_alone("load", waiting=refuse, cancelled=never) as turn:
            pass
    assert turn.alone


def test_a_timed_run_need_not_wait(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a")
    callbacks = Callbacks(listen=kept.listen, wait=False)
    with announce("sweep"):
        [measured] = measure_latency(
            [toy("Good")], dataset, snapshots(dataset), settings=ONCE, callbacks=callbacks
        )
    assert kept.kinds() == ["disturbed", "started", "indexed", "answered", "finished"]
    assert kept.events[0].detail["waited"] is False
    assert measured.timings
    assert not measured.timings.alone


def test_quality_is_announced_and_waits_for_nobody(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a")
    seen: list[str] = []

    def listen(event: object) -> None:
        kept.listen(event)  # type: ignore[arg-type]
        seen.extend(json.loads(path.read_text())["command"] for path in files(running_folder()))

    callbacks = Callbacks(listen=listen, command="evaluate")
    with measure_alone("load", waiting=refuse, cancelled=never) as turn:
        [measured] = measure_quality(
            [(toy("Good"),)], dataset, snapshots(dataset), callbacks=callbacks
        )
    assert measured.notes["status"] == "completed"
    assert "evaluate" in seen
    assert "waiting" not in kept.kinds()
    assert not turn.alone


def test_work_that_can_wait_begins_only_if_nothing_else_is_announced(folder: Path) -> None:
    with announce("compare", folder), announce_if_idle("warm up", folder) as idle:
        assert not idle
    with (
        measure_alone("sweep", waiting=refuse, cancelled=never, folder=folder),
        announce_if_idle("warm up", folder) as idle,
    ):
        assert not idle
    waited: list[str] = []

    def wait(holders: Sequence[Holder]) -> None:
        waited.extend(holder.command for holder in holders)

    with announce_if_idle("warm up", folder) as idle:
        assert idle
        # A timed run that comes later waits for it.
        with measure_alone("sweep", waiting=wait, cancelled=lambda: bool(waited), folder=folder):
            assert waited == ["warm up"]
    with announce_if_idle("warm up", folder) as idle:
        assert idle


def test_work_that_can_wait_does_not_begin_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with announce_if_idle("warm up", tmp_path / "file" / "running") as idle:
        assert not idle
