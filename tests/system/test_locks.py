"""Locks have one holder, and end with it."""

from pathlib import Path
from threading import Event, Thread

import pytest

from karat.system.locks import LockedFile, in_turn, is_free, locked_file, try_lock


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with try_lock(path) as first:
        with try_lock(path) as second:
            assert (first, second) == (True, False)
        assert path.exists()
    assert not path.exists()
    with try_lock(path) as again:
        assert again
    # Without a folder there is no lock, and nobody waits for one.
    with try_lock(tmp_path / "none" / "x.lock") as without:
        assert without


def test_one_at_a_time(tmp_path: Path) -> None:
    begun, done = Event(), Event()

    def other() -> None:
        begun.set()
        with in_turn(tmp_path):
            done.set()

    with in_turn(tmp_path):
        thread = Thread(target=other)
        thread.start()
        begun.wait()
        # It cannot be done before this one is, however long we wait.
        assert not done.wait(0.05)
    thread.join()
    assert done.is_set()


def test_nobody_waits_in_a_folder_that_is_none(tmp_path: Path) -> None:
    with in_turn(tmp_path / "none"), in_turn(tmp_path / "none"):
        pass


def test_a_locked_file_is_new_and_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    file = LockedFile(path)
    assert not is_free(path)
    with pytest.raises(FileExistsError):
        LockedFile(path)
    file.remove()
    file.remove()
    assert not path.exists()
    assert not is_free(path)
    path.touch()
    assert is_free(path)


def test_a_file_that_stays_locked_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.system.locks.TRIES", 3)
    with (
        locked_file(tmp_path / "lock"),
        pytest.raises(BlockingIOError),
        locked_file(tmp_path / "lock"),
    ):
        pass
    with locked_file(tmp_path / "lock") as descriptor:
        assert descriptor
