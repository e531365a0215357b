"""Work that must be alone, and all other work."""

from pathlib import Path

import pytest

from karat.runner.alone import working


def never() -> bool:
    return False


def refuse() -> None:
    raise AssertionError("there is nothing to wait for")


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_who_works_beside_whom(first: bool, second: bool, both: bool, tmp_path: Path) -> None:
    lock = tmp_path / "cache" / "work.lock"
    said: list[str] = []

    def waiting() -> None:
        said.append("waiting")

    with working(lock, alone=first, waiting=refuse, cancelled=never) as held:
        assert held
        # The second gives up as soon as it has to wait.
        with working(lock, alone=second, waiting=waiting, cancelled=lambda: bool(said)) as also:
            assert also is both
    assert said == ([] if both else ["waiting"])
    with working(lock, alone=True, waiting=refuse, cancelled=never) as held:
        assert held


def test_without_a_lock_nothing_is_assured(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "work.lock"
    with working(place, alone=True, waiting=refuse, cancelled=never) as held:
        assert not held
