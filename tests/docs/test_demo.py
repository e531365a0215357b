"""The demo: from a history to a page, and from ours where there is too little of the user's."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "demo" / "run.sh"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in *folder*, with the karat of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "KARAT_CACHE": str(folder / "cache")}
    return subprocess.run(
        [str(SCRIPT), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_young_history_gives_way_to_ours(tmp_path: Path, git: Callable[..., str]) -> None:
    young = tmp_path / "young"
    git(tmp_path, "init", "--quiet", "young")
    (young / "a.py").write_text("print(1)\n")
    git(young, "add", ".")
    git(young, "commit", "--quiet", "-m", "print a number")
    shown = run(tmp_path, str(young))
    assert shown.returncode == 0, shown.stderr
    assert "fewer than 30 cases" in shown.stdout
    assert "4 runs of 42 queries, 20 of them timed" in shown.stderr
    assert "has the highest ndcg@10" in shown.stdout
    assert (tmp_path / "demo.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    shown = run(tmp_path, str(tmp_path / "nowhere"))
    assert shown.returncode == 2
    assert "is no Git repository" in shown.stderr
    assert not (tmp_path / "demo.html").exists()
