"""karat carry says what it kept and what it lost, and counts losses in its exit code if asked."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

CARRY = ("carry", "two.csv", "--from", "HEAD~1", "--to", "HEAD", "--repo", "project")


@pytest.fixture(autouse=True)
def project(folder: Path, git: Callable[..., str]) -> Path:
    folder_path = folder / "project"
    folder_path.mkdir()
    steps = [("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "one")]
    (folder_path / "a.py").write_text("def f():\n    pass\n")
    (folder_path / "b\x1b.py").write_text("gone\n")
    for step in steps:
        git(folder_path, *step)
    (folder_path / "a.py").write_text("import os\n\n\ndef f():\n    pass\n")
    (folder_path / "b\x1b.py").unlink()
    git(folder_path, "commit", "--quiet", "-am", "two")
    rows = "query,result1,result2\nwho,a.py:1-2:2,\nwhere,b\x1b.py:1-1:1,a.py:1-1:1\n"
    (folder / "two.csv").write_text(rows)
    return folder_path


def test_what_was_kept_and_lost(karat: Karat, folder: Path) -> None:
    done = karat(*CARRY, "-o", "new.csv")
    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    assert first.startswith("two.csv: 2 queries, 3 targets, now at ")
    assert rest == [
        "  updated: 2 targets, 0 in renamed files, 2 on other line numbers",
        "  lost: 1 target",
        "  written: new.csv",
    ]
    assert done.stderr == "lost: query '2': b\\x1b.py:1-1: the file was deleted\n"
    assert (folder / "new.csv").read_text().splitlines()[1:] == [
        "who,a.py:4-5:2,,",
        "where,a.py:4-4:1,,",
    ]


def test_only_the_first_lost_targets_are_listed(karat: Karat, folder: Path) -> None:
    rows = "".join(f"query {number},b\x1b.py:1-1:1\n" for number in range(13))
    (folder / "two.csv").write_text(f"query,result1\n{rows}")
    done = karat(*CARRY)
    assert "  lost: 13 targets\n" in done.stdout
    *lost, last = done.stderr.splitlines()
    assert len(lost) == 10
    assert last == "3 more targets lost; --json lists all"
    assert len(json.loads(karat(*CARRY, "--json").stdout)["lost"]) == 13


def test_strict(karat: Karat) -> None:
    assert karat(*CARRY, "--strict").returncode == 1
    assert karat(*CARRY, "--strict", "--json").returncode == 1
    assert karat(*CARRY[:4], "HEAD", *CARRY[4:], "--strict").returncode == 2


def test_json(karat: Karat, folder: Path) -> None:
    done = karat(*CARRY, "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (value["queries"], value["targets"], value["shifted"]) == (2, 3, 2)
    assert value["lost"][0]["path"] == "b\x1b.py"
    assert value["lost"][0]["reason"] == "the file was deleted"
    assert value["written"] is None


def test_bad_input(karat: Karat) -> None:
    done = karat("carry", "two.csv", "--to", "HEAD", "--repo", "project")
    assert done.returncode == 2
    assert "2 of 2 queries have no base_commit" in done.stderr
    assert karat("carry", "two.csv", "--from", "HEAD").returncode == 2
