"""A cache changes how long a scan takes, and nothing else."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from karat.extensions.mining.commits import Commit, UnreadableCommits, each_diff
from karat.extensions.mining.scan import ScanCache, scan

if TYPE_CHECKING:
    from tests.git_history import Builder


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by each commit that Git is asked to compare."""
    asked: list[str] = []

    def noted(
        repository: str, commits: Sequence[str], *options: str, unreadable: UnreadableCommits | None
    ) -> Iterator[tuple[str, bytes]]:
        asked.extend(commits)
        return each_diff(repository, commits, *options, unreadable=unreadable)

    monkeypatch.setattr("karat.extensions.mining.scan.each_diff", noted)
    return asked


def varied(history: "Builder") -> list[str]:
    """Return the ids of a history with a merge, a rename, an empty commit and odd names."""
    first = history.commit({"a.py": "a\n", b"\xff": "x"}, "begin")
    second = history.commit({"a.py": None, "b.py": "a\n"}, "Move\n\nbody")
    side = history.commit({"c": "c"}, branch="side", parents=[first])
    merge = history.commit({"c": "c"}, "Merge", parents=[second, side])
    return [first, second, side, merge, history.commit({}, "nothing")]


def scanned(history: "Builder", path: Path, **options: str) -> list[Commit]:
    with ScanCache(path) as cache:
        return list(scan(history.path, include_merges=True, cache=cache, **options))  # type: ignore[arg-type]


def test_the_result_is_the_same_with_and_without(
    history: "Builder", tmp_path: Path, compared: list[str]
) -> None:
    ids = varied(history)
    path = tmp_path / "caches" / "commits.sqlite"
    expected = list(scan(history.path, include_merges=True))
    assert compared == []
    assert scanned(history, path) == expected
    assert sorted(compared) == sorted(ids)
    assert scanned(history, path) == expected
    assert len(compared) == len(ids)


def test_only_new_commits_are_compared_on_any_branch(
    history: "Builder", tmp_path: Path, compared: list[str]
) -> None:
    path = tmp_path / "commits.sqlite"
    ids = varied(history)
    scanned(history, path)
    compared.clear()
    new = history.commit({"new": "new"})
    assert scanned(history, path)[0].id == new
    assert scanned(history, path, branch="side") == list(scan(history.path, branch="side"))
    assert compared == [new]
    with ScanCache(path) as cache:
        assert [commit.id for commit in scan(history.path, unit="pr", cache=cache)] == [ids[3]]
        some = scan(history.path, since="2023-11-15T01:00", max_commits=1, cache=cache)
        assert [commit.id for commit in some] == [new]
    assert compared == [new]


def test_windows_join_without_a_seam(
    history: "Builder", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.extensions.mining.scan._SOME", 2)
    varied(history)
    path = tmp_path / "commits.sqlite"
    assert scanned(history, path) == list(scan(history.path, include_merges=True))


def test_losses_are_the_same_as_well(history: "Builder", tmp_path: Path) -> None:
    ids = [history.commit({"a": str(number)}) for number in range(5)]
    history.lose(f"{ids[2]}^{{tree}}")
    plain = UnreadableCommits()
    expected = list(scan(history.path, unreadable=plain))
    for _ in range(2):
        unreadable = UnreadableCommits()
        with ScanCache(tmp_path / "commits.sqlite") as cache:
            assert list(scan(history.path, cache=cache, unreadable=unreadable)) == expected
        assert [lost.commit for lost in unreadable.unreadable] == [ids[3], ids[2]]
    history.lose(ids[1])
    walk = UnreadableCommits()
    with ScanCache(tmp_path / "commits.sqlite") as cache:
        assert [commit.id for commit in scan(history.path, cache=cache, unreadable=walk)] == [
            ids[4]
        ]
    assert [lost.commit for lost in walk.unreadable] == ["", ids[3]]


@pytest.mark.parametrize(
    "rubbish", [b"no database at all " * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_file_is_replaced(history: "Builder", tmp_path: Path, rubbish: bytes) -> None:
    path = tmp_path / "commits.sqlite"
    path.write_bytes(rubbish)
    varied(history)
    expected = list(scan(history.path, include_merges=True))
    assert scanned(history, path) == expected
    assert scanned(history, path) == expected


def test_damage_within_the_file_is_scanned_again(history: "Builder", tmp_path: Path) -> None:
    for number in range(20):
        history.commit({"a": str(number)}, "many words " * 40)
    path = tmp_path / "commits.sqlite"
    expected = scanned(history, path)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    assert scanned(history, path) == expected


def test_a_value_that_changed_is_unknown(
    history: "Builder", tmp_path: Path, compared: list[str]
) -> None:
    ids = varied(history)
    path = tmp_path / "commits.sqlite"
    expected = scanned(history, path)
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE entry SET value = substr(value, 1, length(value) - 2) || x'7878' WHERE key = ?",
            (bytes.fromhex(ids[0]),),
        )
    database.close()
    compared.clear()
    assert scanned(history, path) == expected
    assert compared == [ids[0]]


def test_a_shallow_clone_leaves_the_cache_alone(
    history: "Builder", tmp_path: Path, compared: list[str]
) -> None:
    for number in range(4):
        history.commit({"a": str(number)})
    part = tmp_path / "part"
    history.git("clone", "--quiet", "--bare", "--depth=2", history.folder.as_uri(), str(part))
    with ScanCache(tmp_path / "commits.sqlite") as cache:
        assert len(list(scan(str(part), cache=cache))) == 2
        assert compared == []
        assert list(scan(history.path, cache=cache)) == list(scan(history.path))
