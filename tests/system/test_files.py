"""The folder for caches is chosen by the environment."""

import subprocess
import sys
from pathlib import Path

from karat.system.files import cache_folder, try_lock


def test_the_cache_folder_follows_the_xdg_rules() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "karat"
    assert cache_folder({}) == Path.home() / ".cache" / "karat"


def test_the_lowest_layer_loads_no_numpy() -> None:
    probe = (
        "import sys, karat.system.files, karat.system.sqlite, karat.system.processes, "
        "karat.system.words; print('numpy' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "False\n"


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
