"""Mistakes that newcomers make with a repository, and what they read."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.git_history import Builder

Karat = Callable[..., CompletedProcess[str]]


def test_a_clone_of_depth_one_says_how_to_get_the_rest(
    karat: Karat, folder: Path, project: "Builder"
) -> None:
    project.git("clone", "-q", "--depth", "1", f"file://{project.path}", str(folder / "shallow"))
    done = karat("generate", "--repo", "shallow", "-o", "gold.json")
    assert done.returncode == 2
    assert "git fetch --unshallow" in done.stderr
    assert "--off root" not in done.stderr


def test_merges_that_are_left_out_are_a_row(karat: Karat, project: "Builder") -> None:
    before = project.git("rev-parse", "main~1")
    side = project.commit({"other.py": "A = 1\n"}, "Add a price", branch="side", parents=[before])
    project.commit({}, "Merge side", parents=[project.git("rev-parse", "main"), side])
    given = ("generate", "--repo", project.path, "-o", "gold.json")
    done = karat(*given)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    count = int(project.git("rev-list", "--count", "main"))
    assert f": {count} commits up to " in " ".join(lines[:2])
    merge = next(line.split() for line in lines if line.startswith("merge "))
    assert merge[1] == "1"
    (mined,) = json.loads(karat(*given, "--json").stdout)["repositories"]
    assert mined["waterfall"]["merge"] == 1
    (mined,) = json.loads(karat(*given, "--json", "--include-merges").stdout)["repositories"]
    assert mined["waterfall"].get("merge", 0) == 0


def test_an_address_is_cloned_first(karat: Karat) -> None:
    address = "https://example.invalid/pallets/flask.git"
    done = karat("generate", "--repo", address, "-o", "gold.json")
    assert done.returncode == 2
    assert f"clone it first: git clone --bare {address} flask.git, and use flask.git" in done.stderr


@pytest.mark.together_with("inspect")
@pytest.mark.usefixtures("folder")
def test_a_run_where_a_gold_set_is_expected(karat: Karat) -> None:
    done = karat("inspect", "new.run")
    expected = "error: new.run: this is a run (format trec-run); expected a gold set\n"
    assert (done.returncode, done.stderr) == (2, expected)
