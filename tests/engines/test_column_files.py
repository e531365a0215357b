"""Columns in files: whole or not at all, checked, and removed by their last use."""

import os
from math import inf
from pathlib import Path

import numpy as np
import pytest

from karat.engines.columns import ColumnFolder, Columns, prefixed, without_prefix

COLUMNS: Columns = {
    "documents": np.arange(1000, dtype=np.int32),
    "none": np.empty(0, np.int64),
    "code": np.array([True, False]),
    "weights": np.linspace(0, 1, 77, dtype=np.float32),
}


def folder(path: Path, max_bytes: float = inf, needed_since: float = inf) -> ColumnFolder:
    return ColumnFolder(path / "indexes", max_bytes=max_bytes, needed_since=needed_since)


def test_columns_come_back_mapped_and_read_only(tmp_path: Path) -> None:
    folder(tmp_path).write("a", COLUMNS)
    columns = folder(tmp_path).read("a")
    assert columns is not None
    assert list(columns) == list(COLUMNS)
    for name, column in COLUMNS.items():
        assert columns[name].dtype == column.dtype
        assert columns[name].tolist() == column.tolist()
        assert not columns[name].flags.writeable


def test_a_folder_without_the_name_has_none(tmp_path: Path) -> None:
    assert folder(tmp_path).read("a") is None


def file_of(path: Path) -> Path:
    (file,) = (path / "indexes").iterdir()
    return file


@pytest.mark.parametrize("position", [0, 10, 20, 300, -1000, -64])
def test_a_file_with_a_wrong_byte_is_removed(tmp_path: Path, position: int) -> None:
    folder(tmp_path).write("a", COLUMNS)
    file = file_of(tmp_path)
    data = bytearray(file.read_bytes())
    data[position] ^= 0xFF
    file.write_bytes(data)
    assert folder(tmp_path).read("a") is None
    assert not file.exists()


@pytest.mark.parametrize("length", [0, 5, 16, 100, 2000])
def test_a_file_that_is_cut_off_is_removed(tmp_path: Path, length: int) -> None:
    folder(tmp_path).write("a", COLUMNS)
    file = file_of(tmp_path)
    file.write_bytes(file.read_bytes()[:length])
    assert folder(tmp_path).read("a") is None
    assert not file.exists()


def used(path: Path, name: str, second: int) -> None:
    os.utime(path / "indexes" / f"{name}.columns", (second, second))


def names(path: Path) -> list[str]:
    return sorted(file.stem for file in (path / "indexes").iterdir())


def test_the_least_recently_used_files_are_removed_above_the_limit(tmp_path: Path) -> None:
    for second, name in enumerate("abc", 1):
        folder(tmp_path).write(name, COLUMNS)
        used(tmp_path, name, second)
    # Reading is a use.
    held = folder(tmp_path).read("a")
    size = (tmp_path / "indexes" / "a.columns").stat().st_size
    folder(tmp_path, max_bytes=2 * size).write("d", COLUMNS)
    assert names(tmp_path) == ["a", "d"]
    folder(tmp_path, max_bytes=0).write("e", COLUMNS)
    assert names(tmp_path) == []
    # What is mapped can still be read.
    assert held is not None
    assert held["documents"].tolist() == list(range(1000))


def test_a_file_that_the_run_has_used_is_not_removed(tmp_path: Path) -> None:
    for second, name in ((10, "a"), (20, "b")):
        folder(tmp_path).write(name, COLUMNS)
        used(tmp_path, name, second)
    folder(tmp_path, max_bytes=1, needed_since=15).write("c", COLUMNS)
    assert names(tmp_path) == ["b", "c"]


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path: Path) -> None:
    folder(tmp_path).write("a", COLUMNS)
    old, new = (tmp_path / "indexes" / name for name in ("x.part", "y.part"))
    old.write_bytes(b"1")
    new.write_bytes(b"1")
    os.utime(old, (1, 1))
    folder(tmp_path).write("b", COLUMNS)
    assert names(tmp_path) == ["a", "b", "y"]


def test_prefixes_nest() -> None:
    inner = {"a": COLUMNS["code"], "b": COLUMNS["none"]}
    outer = {**prefixed("x", prefixed("y", inner)), **prefixed("xy", inner)}
    assert without_prefix(without_prefix(outer, "x"), "y") == inner
