"""A worker is dead when that is proven, or after a lease without a heartbeat; never before."""

import gc
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from time import monotonic

import pytest
from sqlalchemy import select

from karat.errors import KaratError
from karat.experiments.store import RunStatus, SqlStore, leases, watch_holders
from karat.experiments.store.base import LEASE_S
from karat.experiments.store.database import Database
from karat.experiments.store.leases import Leases, lock_file, new_worker
from karat.experiments.store.schema import WORKERS
from karat.system.locks import is_free
from karat.system.processes import kernel_id
from karat.testing.store import PLAN, outlive
from tests.lease_clock import LeaseClock

PATIENCE_S = 300.0


# Claims a run, and waits until it is killed.
HOLDER = """
import signal, sys
from karat.experiments.store import SqlStore
assert SqlStore(sys.argv[1]).claim(sys.argv[2])
print("claimed", flush=True)
signal.pause()
"""


def killed(place: str, run: str) -> None:
    """Let a process claim *run*, and kill it."""
    command = [sys.executable, "-c", HOLDER, place, run]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        process.kill()


def heartbeats(database: Database) -> dict[str, int]:
    with database.reading() as connection:
        rows = connection.execute(select(WORKERS.c.id, WORKERS.c.heartbeat))
        return {row.id: row.heartbeat for row in rows}


def until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds; fail where it never does."""
    waiting, deadline = Event(), monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < deadline, "it never came to that"
        waiting.wait(0.01)


@pytest.fixture
def opened(place: str) -> Iterator[Database]:
    database = Database(place)
    yield database
    database.close()


def test_identities_differ_in_one_process() -> None:
    assert new_worker() != new_worker()


def test_a_killed_process_is_known_to_be_dead_at_once(lease_clock: LeaseClock) -> None:
    with lease_clock.open_store() as store:
        run = f"{store.experiment(PLAN)}.1"
        killed(lease_clock.place, run)
        assert store.latest().runs[0].status == RunStatus.CANCELLED
        assert store.claim(run)
    # Nothing of the dead one is left.
    with lease_clock.open_database() as database:
        assert heartbeats(database) == {}


@pytest.mark.parametrize("lost", ["kernel", "file"])
def test_a_lock_that_cannot_be_seen_proves_nothing(
    lease_clock: LeaseClock, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """It may be on another machine, or in another folder where only the database is shared."""
    with lease_clock.open_store() as store, lease_clock.open_database() as database:
        experiment = store.experiment(PLAN)
        run = f"{experiment}.1"
        killed(lease_clock.place, run)
        if lost == "kernel":
            monkeypatch.setattr(leases, "kernel_id", lambda: "another")
        else:
            (worker,) = heartbeats(database)
            lock_file(database, worker).unlink()
        (holder,) = store.holders(experiment)
        assert holder.alive is None
        assert not store.claim(run)
        assert store.show(experiment).runs[0].status == RunStatus.INDEXING
        outlive(store, experiment, lease_clock.forward)
        assert store.claim(run)


def test_a_file_system_that_does_not_keep_locks(
    lease_clock: LeaseClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    with (
        lease_clock.open_store("first") as first,
        lease_clock.open_store() as second,
        lease_clock.open_database() as database,
    ):
        experiment = first.experiment(PLAN)
        assert first.claim(f"{experiment}.1")
        assert not lock_file(database, "first").exists()
        assert not second.claim(f"{experiment}.1")
        assert second.holders(experiment)[0].alive is None


def test_a_kernel_without_an_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("karat.system.processes.BOOT_ID", tmp_path / "missing")
    kernel_id.cache_clear()
    try:
        assert kernel_id() == ""
        with SqlStore(tmp_path / "karat.db") as store:
            assert store.claim(f"{store.experiment(PLAN)}.1")
            assert not list(tmp_path.glob("*.lock"))
    finally:
        kernel_id.cache_clear()


def test_a_lock_lasts_as_long_as_its_worker(tmp_path: Path) -> None:
    with SqlStore(tmp_path / "karat.db") as store:
        assert store.claim(f"{store.experiment(PLAN)}.1")
        (file,) = tmp_path.glob("*.lock")
        # A database in a folder that is searched does not change the corpus.
        assert file.name.startswith(".")
        assert not is_free(file)
    assert not list(tmp_path.glob("*.lock"))
    assert not is_free(file)


def test_time_in_which_the_observer_was_held_up_does_not_count(tmp_path: Path) -> None:
    """Nor a database that nobody could write to: whatever held it up may have held up both."""
    clock = LeaseClock(str(tmp_path / "karat.db"))
    with clock.open_store() as holder, clock.open_store() as observer:
        experiment = holder.experiment(PLAN)
        assert holder.claim(f"{experiment}.1")
        for _ in range(2):
            (found,) = observer.holders(experiment)
            clock.forward(3600)
        assert found.alive is None
        assert not observer.claim(f"{experiment}.1")
        holder.heartbeat()
        assert observer.holders(experiment)[0].alive is True


def test_a_clock_that_is_wrong_decides_nothing(place: str) -> None:
    """Neither that of the holder nor that of the observer."""
    wrong = [datetime.now(UTC) + timedelta(days=days) for days in (-400, 400)]
    with (
        SqlStore(place, clock=lambda: wrong[0]) as early,
        SqlStore(place, clock=lambda: wrong[1]) as late,
    ):
        experiment = early.experiment(PLAN)
        for holder, observer in ((early, late), (late, early)):
            assert holder.claim(f"{experiment}.1")
            assert not observer.claim(f"{experiment}.1")
            assert observer.show(experiment).runs[0].status == RunStatus.INDEXING
            holder.finish(f"{experiment}.1", RunStatus.CANCELLED)


def test_heartbeats_come_while_something_is_held(opened: Database) -> None:
    held = Leases(opened, heartbeat_s=0.001)
    with opened.writing() as connection:
        held.renew(connection, "w")
    assert heartbeats(opened) == {"w": 1}
    held.hold("w", "run 1")
    held.hold("w", "run 2")
    held.drop("w", "run 1")
    until(lambda: heartbeats(opened)["w"] > 2)
    assert held.holds("w", "run 2")
    held.drop("w", "run 2")
    assert not held.holds("w", "run 2")
    held.heartbeat()
    held.close()
    held.close()
    assert heartbeats(opened) == {}


@pytest.mark.parametrize("error", [KaratError("in use"), RuntimeError("nobody knows")])
def test_heartbeats_outlast_an_error(
    opened: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    held = Leases(opened, heartbeat_s=0.001)
    failed = Event()

    def fail() -> None:
        failed.set()
        raise error

    monkeypatch.setattr(held, "heartbeat", fail)
    held.hold("w", "run")
    assert failed.wait(PATIENCE_S)
    with caplog.at_level(logging.CRITICAL):
        monkeypatch.undo()
        until(lambda: heartbeats(opened).get("w", 0) > 1)
    held.close()


def test_heartbeats_end_with_leases_that_nobody_uses(opened: Database) -> None:
    held = Leases(opened, heartbeat_s=0.001)
    held.hold("w", "run")
    thread = held._thread
    assert thread is not None
    until(lambda: "w" in heartbeats(opened))
    del held

    def ended() -> bool:
        gc.collect()
        return not thread.is_alive()

    until(ended)


def test_a_worker_that_wakes_up_gets_its_row_back(lease_clock: LeaseClock) -> None:
    """It may claim something else, and nothing that it has lost."""
    with lease_clock.open_store("slow") as slow, lease_clock.open_store() as store:
        experiment = store.experiment(PLAN)
        first, second = f"{experiment}.1", f"{experiment}.2"
        assert slow.claim(first)
        outlive(store, experiment, lease_clock.forward)
        assert store.claim(first)
        with lease_clock.open_database() as database:
            assert "slow" not in heartbeats(database)
            slow.heartbeat()
            assert "slow" in heartbeats(database)
        assert slow.claim(second)
        assert not slow.claim(first)
        alive = watch_holders(
            store,
            experiment,
            on_wait=lambda _: pytest.fail("it was seen"),
            wait=lambda _: slow.heartbeat(),
        )
        assert [holder.worker for holder in alive] == ["slow"]


def test_only_others_are_watched_once_a_second(tmp_path: Path) -> None:
    clock = LeaseClock(str(tmp_path / "karat.db"))
    with clock.open_database() as database:
        held = clock.leases(database)
        assert held.is_due()
        with database.writing() as connection:
            assert held.watch(connection, ["nobody"]) == {"nobody": False}
        assert not held.is_due()
        clock.forward(LEASE_S)
        assert held.is_due()
