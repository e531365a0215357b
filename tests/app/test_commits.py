"""The commit of a revision, of a checkout, and of what is in neither."""

from collections.abc import Callable
from pathlib import Path

import pytest

from karat.app.index import commit_of

WHEN = "2024-01-01T00:00:00+00:00"
Git = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, git: Git) -> Path:
    """Return a checkout of two commits, with a folder that Git ignores."""
    project = tmp_path / "project"
    for folder in ("docs", "built"):
        (project / folder).mkdir(parents=True)
        (project / folder / "page.md").write_text("# Page\n", encoding="utf-8")
    (project / ".gitignore").write_text("built\n", encoding="utf-8")
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "Schöne Seite\n\nwith a body")
    git(project, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")
    return project


def test_a_revision(project: Path, git: Git) -> None:
    first = git(project, "rev-parse", "HEAD^")
    expected = {"id": first, "committed_at": WHEN, "subject": "Schöne Seite"}
    assert commit_of(project, "HEAD^") == expected
    assert commit_of(project, first[:12]) == expected
    assert commit_of(project, "nothing") is None
    assert commit_of(project, "--all") is None


def test_what_is_checked_out(project: Path, git: Git) -> None:
    head = {"id": git(project, "rev-parse", "HEAD"), "committed_at": WHEN, "subject": ""}
    assert commit_of(project) == commit_of(project / "docs") == head
    # It lies in the checkout, and is no part of it.
    assert commit_of(project / "built") is None


def test_no_repository(tmp_path: Path, git: Git) -> None:
    assert commit_of(tmp_path) is None
    git(tmp_path, "init", "--quiet")
    assert commit_of(tmp_path) is None


def test_nothing_that_a_repository_names_is_run(project: Path, tmp_path: Path, git: Git) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for setting in ("gpg.program", "core.fsmonitor", "core.pager", "core.sshCommand"):
        git(project, "config", setting, str(trap))
    git(project, "config", "log.showSignature", "true")
    assert commit_of(project)
    assert not (tmp_path / "sprung").exists()
