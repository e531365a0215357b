"""Progress of runs, as a terminal shows it and as lines where nobody watches."""

import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from time import monotonic, sleep
from types import SimpleNamespace

import pytest

from karat.cli.output import progress
from karat.cli.output.progress import (
    Pace,
    disturbed_text,
    progress_bars,
    run_progress,
    waiting_text,
)
from karat.experiments.workers import RunEvent

NOW = datetime.now(UTC)
COMPARE = {"pid": 1798, "command": "compare", "since": NOW.isoformat(timespec="seconds")}
SWEEP = {**COMPARE, "pid": 1800, "command": "sweep"}
SINCE = NOW.astimezone().strftime("%H:%M")
WAITING = (
    f"Waiting for another karat run (pid 1798: compare, since {SINCE}) so that latency is not "
    "distorted; --no-wait to continue now\n"
)
EVENTS = [
    RunEvent("answered", "bm25", 1, 2),
    RunEvent("answered", "bm25", 2, 2),
    RunEvent("finished", "bm25", 2, 2, {"status": "completed"}),
]


class Clock:
    """A clock that only the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A terminal of 80 columns: what stands on its lines in the end."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        rows = []
        for written in self.getvalue().split("\n"):
            row = ""
            for text in written.split("\r"):
                row = text + row[len(text) :]
                assert len(text) < 80
            rows.append(row.rstrip())
        return rows


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setitem(os.environ, "COLUMNS", "80")
    return terminal


def waits(*holders: Mapping[str, object]) -> list[RunEvent]:
    detail = {"holders": list(holders)}
    return [RunEvent("waiting", name, 0, 2, detail) for name in ("bm25", "keyword")]


def started(run: str, total: int, passed: str) -> RunEvent:
    return RunEvent("started", run, 0, total, {"pass": passed})


def indexing(stage: str, done: int, total: int, runs: int = 1) -> RunEvent:
    detail = {"stage": stage, "done": done, "total": total, "runs": runs}
    return RunEvent("indexing", "dense", 0, 9, detail)


@pytest.mark.parametrize(("ci", "more"), [("", ""), ("true", "bm25: 2 of 2 queries, completed\n")])
def test_where_nobody_watches(
    ci: str,
    more: str,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CI", ci)
    with run_progress({"bm25": 2}, clock=clock) as listen:
        for event in waits(COMPARE):
            listen(event)
        clock.now += 94
        listen(started("bm25", 2, "timing"))
        clock.now -= 94
        for event in EVENTS:
            listen(event)
    assert capsys.readouterr().err == f"{WAITING}Waited 0:01:34; measuring latency now\n{more}"


def test_lines_in_ci_are_sparse(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    with run_progress({"dense": 9}, clock=clock) as listen:
        for done in range(0, 1_300, 64):
            listen(indexing("embedding", done, 1_300))
            clock.now += 1
        clock.now += 20
        listen(indexing("indexing", 0, 0, runs=3))
        clock.now += 20
        listen(RunEvent("answered", "dense", 5, 9))
        listen(RunEvent("answered", "dense", 6, 9))
    assert capsys.readouterr().err.splitlines() == [
        "dense: embedding, 1,280 of 1,300",
        "3 runs: indexing",
        "dense: 5 of 9 queries",
    ]


def test_waiting_has_lines_of_its_own(terminal: Terminal, clock: Clock) -> None:
    with run_progress({"bm25": 2}, clock=clock) as listen:
        listen(started("bm25", 2, "quality"))
        for event in (EVENTS[0], *waits(COMPARE, SWEEP), *waits(COMPARE)):
            listen(event)
        listen(started("bm25", 1, "timing"))
    lines = terminal.lines()
    assert lines[0] == "querying  [########################] 100%"
    assert "".join(f"{line} " for line in lines[3:5]) == WAITING.replace("\n", " ")
    assert lines[1].startswith("Waiting for 2 other karat runs (pid 1798: compare, since ")
    assert lines[2].endswith("--no-wait to continue now")
    assert lines[5] == "Waited 0:00:00; measuring latency now"
    assert lines[6].startswith("timing    [")


def test_what_disturbs_is_named_once(terminal: Terminal, clock: Clock) -> None:
    detail = {"holders": [COMPARE], "waited": False}
    with run_progress({"bm25": 2}, clock=clock) as listen:
        for event in (EVENTS[0], *(RunEvent("disturbed", name, 0, 2, detail) for name in "ab")):
            listen(event)
        listen(started("bm25", 1, "timing"))
    text = " ".join(terminal.lines())
    notice = (
        "Latency is disturbed: another karat run is active (pid 1798: compare); --wait measures"
    )
    assert text.count(f"{notice} when it has ended") == 1


def test_four_runs_that_disturb_are_counted() -> None:
    assert disturbed_text([COMPARE, SWEEP, COMPARE, SWEEP], waited=False) == (
        "Latency is disturbed: 4 other karat runs are active (pid 1798: compare; pid 1800: sweep; "
        "pid 1798: compare; and 1 more); --wait measures when they have ended"
    )


def test_a_process_that_may_be_alive_is_named(terminal: Terminal, clock: Clock) -> None:
    detail = {"holder": "host m1, process 17", "command": "compare"}
    with run_progress({"bm25": 2}, clock=clock) as listen:
        listen(RunEvent("checking", "bm25", detail=detail))
        listen(started("bm25", 2, "quality"))
    lines = terminal.lines()
    assert lines[0].startswith("Waiting up to 20 s to see whether the process")
    assert lines[1].endswith("(host m1, process 17, compare) is alive")
    assert lines[2].startswith("querying")


def test_the_time_waited_is_shown_below_the_message(
    terminal: Terminal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "TICK_S", 0.001)
    with run_progress({"bm25": 2}, clock=clock) as listen:
        listen(started("bm25", 2, "quality"))
        listen(EVENTS[0])
        for event in waits(COMPARE):
            listen(event)
        assert terminal.lines()[-1] == "waiting   0:00:00"
        clock.now += 47
        last = monotonic() + 30
        while terminal.lines()[-1] != "waiting   0:00:47" and monotonic() < last:
            sleep(0.001)
        assert terminal.lines()[-1] == "waiting   0:00:47"
        listen(started("bm25", 1, "timing"))
        after = terminal.getvalue()
        assert terminal.lines()[-2:] == [
            "Waited 0:00:47; measuring latency now",
            "timing    [------------------------]   0%  bm25",
        ]
        sleep(0.02)
        assert terminal.getvalue() == after


def test_many_holders_and_those_of_another_day() -> None:
    before = (NOW - timedelta(days=2)).astimezone()
    old = {**COMPARE, "since": before.isoformat(timespec="seconds")}
    said = waiting_text([old, COMPARE, SWEEP, SWEEP, SWEEP])
    assert f"since {before:%Y-%m-%d %H:%M}; pid" in said
    assert "5 other karat runs" in said
    assert "; and 2 more)" in said


def test_one_bar_for_each_pass(terminal: Terminal, clock: Clock) -> None:
    # Of three queries one was answered before, and two are timed as well.
    with run_progress({"bm25": 3}, clock=clock) as listen:
        listen(started("bm25", 2, "quality"))
        assert terminal.lines()[-1] == "querying  [########----------------]  33%  bm25"
        for event in EVENTS:
            listen(event)
        listen(started("bm25", 2, "timing"))
        assert terminal.lines() == [
            "querying  [########################] 100%",
            "timing    [------------------------]   0%  bm25",
        ]
        for event in EVENTS:
            listen(event)
    assert terminal.lines()[1:] == ["timing    [########################] 100%", ""]


def test_indexing_is_shown_where_no_query_is_answered(terminal: Terminal, clock: Clock) -> None:
    with run_progress({"dense": 9}, clock=clock) as listen:
        listen(started("dense", 9, "quality"))
        clock.now += 1
        listen(indexing("loading", 0, 0))
        assert terminal.lines()[-1] == "loading   ...  dense"
        for second in range(8):
            clock.now += 1
            listen(indexing("embedding", 64 * second, 1_280, runs=2))
        # Another process does the same, and is not as far.
        clock.now += 1
        listen(indexing("embedding", 64, 1_280, runs=2))
        left = "[########----------------]  35%  0:00:13 left"
        assert terminal.lines()[-1] == f"embedding {left}  2 runs"
        listen(EVENTS[0])
        clock.now += 0.5
        listen(indexing("embedding", 64, 100))
        clock.now += 0.1
        listen(EVENTS[0])
        assert terminal.lines()[-1] == "querying  [#####-------------------]  22%  bm25"


def test_names_are_cut_to_the_terminal(terminal: Terminal, clock: Clock) -> None:
    with run_progress({"x" * 200: 2}, clock=clock) as listen:
        listen(started("x" * 200, 2, "quality"))
    assert len(terminal.lines()[0]) == 79


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_a_bar_stays_where_runs_have_stopped(terminal: Terminal, clock: Clock, status: str) -> None:
    with run_progress({"bm25": 4}, clock=clock) as listen:
        listen(RunEvent("answered", "bm25", 1, 4))
        listen(RunEvent("finished", "bm25", 1, 4, {"status": status}))
    assert terminal.lines() == ["querying  [######------------------]  25%  bm25", ""]


def test_each_label_has_a_bar(terminal: Terminal, clock: Clock) -> None:
    with progress_bars(clock) as tell:
        assert tell
        tell("reading", 1_000, 0)
        tell("reading", 1_200, 0)
        tell("writing", 1, 2)
    assert terminal.lines() == ["reading   1,000", "writing   [############------------]  50%", ""]


def test_the_time_left_is_steady() -> None:
    """The first step takes a minute, which is no sign; then a second each, and some take ten."""
    pace, now, estimates = Pace(), 60.0, []
    pace.step(1, now)
    for step in range(1, 200):
        now += 10.0 if step % 20 == 0 else 1.0
        pace.step(1, now)
        left = pace.left_s(400 - step)
        if left is not None:
            estimates.append(left)
    assert len(estimates) >= 195
    # It takes 1.45 s a step. Once a slow one was seen, each estimate is near that and the last one.
    true = [1.45 * (400 - step) for step in range(200 - len(estimates), 200)]
    pairs = list(zip(estimates[20:], true[20:], strict=True))
    assert all(0.8 < left / real < 1.25 for left, real in pairs)
    changes = [after / before for before, after in pairwise(estimates[20:])]
    assert all(0.95 < change < 1.25 for change in changes)


def test_lost_units_are_told_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with run_progress({"bm25": 4}, clock=clock) as listen:
        for lost in (0, 1, 1):
            detail = {"units": 3, "slots": 2, "lost": lost}
            listen(RunEvent("units", "bm25", 0, 4, detail))
    assert stream.getvalue() == "3 units on 2 slots, 1 lost\n"


def test_a_bar_shows_units_and_slots(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with run_progress({"bm25": 4}, clock=clock) as listen:
        listen(RunEvent("units", "bm25", 0, 4, {"units": 6, "slots": 4, "lost": 1}))
        listen(RunEvent("answered", "bm25", 1, 4))
        clock.now += 1
        listen(RunEvent("answered", "bm25", 2, 4))
    assert "6 units on 4 slots, 1 lost" in terminal.getvalue()
