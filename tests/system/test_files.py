"""The folder for caches, and files that can be written."""

import subprocess
import sys
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.system.files import cache_folder, check_output


def test_the_cache_folder_follows_the_xdg_rules() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "karat"
    assert cache_folder({}) == Path.home() / ".cache" / "karat"


def test_the_lowest_layer_loads_no_numpy() -> None:
    probe = (
        "import sys, karat.system.files, karat.system.sqlite, karat.system.processes, "
        "karat.system.words; print('numpy' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "False\n"


def test_an_output_is_checked_without_a_trace(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("old")
    for path, folder in ((old, False), (tmp_path / "new.json", False), (tmp_path / "a/b", True)):
        check_output(path, folder=folder)
    assert [*tmp_path.iterdir()] == [old]
    assert old.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "folder", "problem"),
    [
        ("lacks/new.json", False, "cannot be written: the folder does not exist$"),
        ("", False, "it is a folder; expected a file"),
        ("file/results", True, "file is not a folder"),
    ],
)
def test_an_output_that_cannot_be_written_is_named(
    name: str, folder: bool, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=problem):
        check_output(tmp_path / name, folder=folder)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder without files")
def test_an_output_that_the_system_rejects_is_named() -> None:
    with pytest.raises(InputError, match=r"^/proc/x.html: cannot be written: "):
        check_output("/proc/x.html")
