"""karat watch: it runs, runs again after a change, survives an error and ends by Ctrl-C."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.extensions.watch import command as watch
from tests.command_line import Karat


@pytest.fixture
def project(folder: Path) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    for topic in ("login", "mail", "docker"):
        (docs / f"{topic}.md").write_text(f"# {topic}\n\nHow to set up {topic}.\n")
    (folder / "questions.csv").write_text(
        "query_key,query_text,path,relevance_grade\n"
        "a,set up login,login.md,1\nb,set up mail,mail.md,1\nc,set up docker,docker.md,1\n"
    )
    (folder / "mine.yaml").write_text("engine: bm25\n")
    return folder


class Clock:
    """A pause in which a user does one thing after another, and then presses Ctrl-C."""

    def __init__(self, *steps: tuple[Path, str | None]) -> None:
        self.steps = list(steps)
        self.settling = False

    def __call__(self, _seconds: float) -> None:
        self.settling = not self.settling
        if not self.settling:
            return
        if not self.steps:
            raise KeyboardInterrupt
        path, text = self.steps.pop(0)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
            # Another time, however fast the test is.
            os.utime(path, ns=(1, len(self.steps)))


def test_every_change_runs_again(
    project: Path, karat: Karat, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(
        (project / "docs" / "mail.md", None),
        (project / "mine.yaml", "engine: bm2\n"),
        (project / "mine.yaml", "engine: bm25\nk1: 2\n"),
    )
    monkeypatch.setattr(watch, "sleep", clock)
    options = ("--corpus", "docs", "-e", "keyword", "-e", "mine.yaml", "-m", "mrr@10")
    done = karat("watch", "questions.csv", *options, "--store", "w.db")
    assert done.returncode == 0, done.stderr
    assert "watching questions.csv, mine.yaml, docs; Ctrl-C ends" in done.stderr
    assert "error: no engine named 'bm2'; did you mean 'bm25'?" in done.stderr
    assert done.stderr.endswith("\nstopped\n")
    rounds = done.stdout.split("\n\n")
    assert [len(rounds), rounds[0].strip().partition(" cases")[0]] == [3, "first run: 3"]
    assert "changed docs/mail.md: 3 cases" in rounds[1]
    assert "    - 1.00 -> 0.00  set up mail" in rounds[1]
    assert "changed mine.yaml: 3 cases" in rounds[2]
    assert "  bm25     mrr@10 0.667  unchanged" in rounds[2]


def test_a_script_that_broke_is_named_and_its_repair_is_compared(
    project: Path, karat: Karat, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "import json\nprint(json.dumps(['login.md']))\n"
    script = project / "mine.py"
    script.write_text(good)
    (project / "mine.yaml").write_text(
        f"engine: command\ncommand: [{sys.executable}, {script}, '{{query}}']\n"
    )
    monkeypatch.setattr(watch, "sleep", Clock((script, "print(\n"), (script, good)))
    options = ("--corpus", "docs", "-e", "keyword", "-e", "mine.yaml", "-m", "mrr@10")
    done = karat("watch", "questions.csv", *options, "--store", "w.db")
    assert done.returncode == 0, done.stderr
    first, broken, repaired = done.stdout.split("\n\n")
    assert "  python   mrr@10 0.333" in first
    assert "  python   failed: " in broken
    assert "SyntaxError" in broken or "exit code 1" in broken
    assert "  python   mrr@10 0.333  unchanged" in repaired


@pytest.mark.usefixtures("project")
def test_a_wrong_start_is_an_error(karat: Karat) -> None:
    done = karat("watch", "questions.csv", "--corpus", "docs", "-e", "bm2")
    assert done.returncode == 2
    assert "did you mean 'bm25'?" in done.stderr


def test_a_change_during_the_first_run_starts_it_again(
    project: Path, karat: Karat, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.extensions.watch import rounds as app

    run_round = app.run_round
    runs = []

    def disturbed(*given: Any, **named: Any) -> app.WatchRound:
        runs.append(given)
        if len(runs) == 1:
            (project / "docs" / "new.md").write_text("# New\n")
            raise InputError("what is searched has changed in the meantime")
        return run_round(*given, **named)

    monkeypatch.setattr(app, "run_round", disturbed)
    monkeypatch.setattr(watch, "sleep", lambda _seconds: pause())
    pauses = iter([None])

    def pause() -> None:
        if next(pauses, KeyboardInterrupt) is KeyboardInterrupt:
            raise KeyboardInterrupt

    done = karat("watch", "questions.csv", "--corpus", "docs", "-m", "mrr@10", "--store", "w.db")
    assert done.returncode == 0, done.stderr
    assert len(runs) == 2
    assert "changed docs/new.md: 3 cases" in done.stdout
