"""Two small repositories whose commits can be queries."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.cli import main
from karat.model import Dataset, Query, Target

Git = Callable[..., str]

# What each commit asks for, and the file that it changes.
CHANGES = {
    "click": [
        ("refuse blank passwords during interactive login", "login"),
        ("retry delivery of queued mail after timeout", "mail"),
    ],
    "gin": [
        ("escape quotes within rendered template values", "render"),
        ("close database connections when requests finish", "store"),
    ],
}
NAMED = ("--repo", "click=elsewhere/click", "--repo", "gin=elsewhere/gin")


def build(folder: Path, git: Git) -> Dataset:
    """Make the repositories click and gin in *folder*; return a query for each of their changes."""
    queries: list[Query] = []
    # As in a mined gold set, the newest commit of a repository comes first.
    for name, changes in CHANGES.items():
        place = folder / name
        place.mkdir()
        git(place, "init", "--quiet")
        for _, file in changes:
            (place / f"{file}.py").write_text(f"def {file[0]}(value):\n    return value\n")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", "start")
        first = len(queries)
        for message, file in changes:
            base = git(place, "rev-parse", "HEAD")
            (place / f"{file}.py").write_text(f"def {file[0]}(value):\n    return check(value)\n")
            git(place, "commit", "--quiet", "-am", message)
            commit = git(place, "rev-parse", "HEAD")
            extra = {"base_commit": base, "commit_hash": commit, "repository": str(place)}
            target = Target(f"{file}.py", 2)
            tags = {"repository": name}
            query = Query(f"{name}-{commit[:12]}", message, (target,), tags, extra)
            queries.insert(first, query)
    repositories = [{"name": name, "path": str(folder / name)} for name in CHANGES]
    return Dataset.of(queries, name="click + gin", metadata={"repositories": repositories})


def karat(*arguments: str) -> int:
    """Run a command in this process, and return its exit code."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def move(folder: Path) -> Path:
    """Move both repositories in *folder* elsewhere, and return where they are then."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for name in CHANGES:
        shutil.move(folder / name, elsewhere / name)
    return elsewhere
