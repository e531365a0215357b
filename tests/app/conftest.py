"""A small Git history that several verbs are tested on."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Return a repository of five commits; each writes its number into n.py."""
    place = tmp_path / "project"
    (place / "tests").mkdir(parents=True)
    git(place, "init", "--quiet")
    (place / "tests" / "test_n.py").write_text("assert n\n")
    for number in range(5):
        (place / "n.py").write_text(f"n = {number}\n")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", str(number))
    return place
