"""What is heard of runs while they go on."""

import io
import sys

import pytest

from karat.cli.progress import run_progress
from karat.runner import Event

EVENTS = [
    Event("waiting", "bm25"),
    Event("waiting", "keyword"),
    Event("answered", "bm25", 1, 2),
    Event("answered", "bm25", 2, 2),
    Event("finished", "bm25", 2, 2, {"status": "completed"}),
]
WAITING = "waiting for other work of Karat to end; times are taken alone\n"


@pytest.mark.parametrize(
    ("ci", "heard"), [("", WAITING), ("true", f"{WAITING}bm25: 2 of 2 queries, completed\n")]
)
def test_where_nobody_watches(
    ci: str, heard: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    with run_progress(2) as listen:
        for event in EVENTS:
            listen(event)
    assert capsys.readouterr().err == heard


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    # One of three was answered before.
    with run_progress(3) as listen:
        for event in EVENTS:
            listen(event)
    shown = terminal.getvalue()
    assert shown.count(WAITING) == 1
    assert "bm25" in shown
    assert "100%" in shown


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_a_bar_stays_where_runs_have_stopped(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with run_progress(4) as listen:
        listen(Event("answered", "bm25", 1, 4))
        listen(Event("finished", "bm25", 1, 4, {"status": status}))
    shown = terminal.getvalue()
    assert "25%" in shown
    assert "100%" not in shown
