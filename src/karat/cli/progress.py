"""Progress on the terminal, and sparse lines where nobody watches."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import click

from karat.cli.pace import Pace, clock_time
from karat.cli.status_line import StatusLine, Ticker, bar_text
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.runner import Event

__all__ = ["progress_bar", "progress_bars", "run_progress", "waiting_text"]

# Where nobody watches, a line about progress comes no more often than that.
SPARSE_S = 20.0
# Indexing is shown where no query was answered for so long: in between it would only flicker.
INDEXING_S = 1.0
NAMED = 3


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what to tell about done and total; None where nobody watches.

    The bar appears when first told, so that work without progress shows none.
    """
    with progress_bars() as tell:
        yield tell and partial(tell, label)


@contextmanager
def progress_bars(
    clock: Callable[[], float] = monotonic,
) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what to tell about label, done and total; each label gets a bar of its own.

    A total of 0 is unknown: then the bar counts.
    """
    if not sys.stderr.isatty():
        yield None
        return
    line = StatusLine(sys.stderr, clock)
    bars: list[_Bar] = []

    def tell(label: str, done: int, total: int) -> None:
        if not bars or bars[-1].label != label:
            line.end()
            bars.append(_Bar(label, total))
        bars[-1].reach(done, clock())
        line.draw(bars[-1].text(), now=done == total)

    yield tell
    if bars:
        line.draw(bars[-1].text(), now=True)
    line.end()


@contextmanager
def run_progress(
    untimed: Mapping[str, int], *, clock: Callable[[], float] = monotonic
) -> "Iterator[Callable[[Event], None]]":
    """Yield what receives the events of runs: a bar on a terminal, lines in CI.

    *untimed* says how many queries of each run are searched before latency is measured.
    """
    if sys.stderr.isatty():
        view = _RunBars(untimed, StatusLine(sys.stderr, clock), clock)
        try:
            yield view
        finally:
            view.end()
    else:
        yield _RunLines(clock, progress=bool(os.environ.get("CI")))


def waiting_text(holders: Sequence[Mapping[str, object]]) -> str:
    """Return that latency is not measured yet, and which runs are in the way.

    *holders* are those of a ``waiting`` event.
    """
    who = "another karat run" if len(holders) == 1 else f"{len(holders)} other karat runs"
    named = [f"pid {one['pid']}: {one['command']}, since {_local(one)}" for one in holders[:NAMED]]
    if len(holders) > NAMED:
        named.append(f"and {len(holders) - NAMED} more")
    return (
        f"Waiting for {who} ({'; '.join(named)}) so that latency is not distorted; "
        "--no-wait to continue now"
    )


def _local(holder: Mapping[str, object]) -> str:
    """Return since when, as the clock of this machine shows it; of another day with its date."""
    from datetime import datetime

    since = datetime.fromisoformat(str(holder["since"])).astimezone()
    today = datetime.now(since.tzinfo).date()
    return since.strftime("%H:%M" if since.date() == today else "%Y-%m-%d %H:%M")


class _Bar:
    """How far something is, and how fast."""

    def __init__(self, label: str, total: int = 0) -> None:
        self.label = label
        self.done = 0
        self.total = total
        self.pace = Pace()

    def reach(self, done: int, now: float) -> None:
        self.pace.step(done - self.done, now)
        self.done = done

    def text(self, name: str = "") -> str:
        total = max(self.total, self.done) if self.total else 0
        return bar_text(self.label, self.done, total, self.pace, name)


class _Waiting:
    """Says who is waited for, whenever that changes, and when the wait is over."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._say = say
        self._clock = clock
        self._holders: object = None
        self._since: float | None = None

    def __call__(self, event: "Event") -> None:
        if event.kind == "waiting" and event.detail.get("holders") != self._holders:
            holders = event.detail.get("holders")
            self._holders = holders
            if self._since is None:
                self._since = self._clock()
            if isinstance(holders, list):
                self._say(waiting_text(holders))
        elif event.kind == "started" and self._since is not None:
            waited = clock_time(self._clock() - self._since)
            self._holders = self._since = None
            self._say(f"Waited {waited}; measuring latency now")

    @property
    def active(self) -> bool:
        """Return whether a wait has begun and not ended."""
        return self._since is not None

    def waited_s(self) -> float:
        """Return how long the wait has taken so far."""
        return 0.0 if self._since is None else self._clock() - self._since


class _RunBars:
    """One bar for the queries without latency, then one for those with; indexing in between."""

    def __init__(
        self, untimed: Mapping[str, int], line: StatusLine, clock: Callable[[], float]
    ) -> None:
        self._line = line
        self._clock = clock
        self._untimed = untimed
        self._waiting = _Waiting(line.say, clock)
        self._ticker = Ticker(self._draw_wait)
        self._bar = _Bar("querying", sum(untimed.values()))
        self._stage: _Bar | None = None
        self._answered = -INDEXING_S
        self._ends: set[object] = set()

    def __call__(self, event: "Event") -> None:
        self._ticker.stop()
        if event.kind == "waiting" and self._bar.label != "timing":
            self._begin_timing()
        # Neither the message nor what follows the wait stands beside the status line.
        if self._waiting.active:
            self._line.clear()
        self._waiting(event)
        if event.kind == "waiting":
            self._ticker.start()
        elif event.kind == "started":
            self._started(event)
        elif event.kind == "indexing":
            self._indexing(event)
        elif event.kind == "answered":
            self._stage = None
            self._answered = self._clock()
            self._bar.reach(self._bar.done + 1, self._answered)
            self._line.draw(self._bar.text(event.run))
        elif event.kind == "finished":
            self._ends.add(event.detail.get("status"))

    def _started(self, event: "Event") -> None:
        if event.detail.get("pass") == "timing":
            if self._bar.label != "timing":
                self._begin_timing()
            self._bar.total += event.total
        else:
            # Queries that were answered before are not searched again.
            self._bar.done += max(self._untimed.get(event.run, 0) - event.total, 0)
        # The time before the first answer would distort the estimate.
        self._bar.pace.pause()
        if event.total:
            self._line.draw(self._bar.text(event.run), now=True)

    def _begin_timing(self) -> None:
        self._complete()
        self._bar = _Bar("timing")

    def _draw_wait(self) -> None:
        self._line.draw(f"{'waiting':<9} {clock_time(self._waiting.waited_s())}", now=True)

    def _indexing(self, event: "Event") -> None:
        now = self._clock()
        if now - self._answered < INDEXING_S:
            return
        stage, total = str(event.detail["stage"]), int(str(event.detail["total"]))
        if self._stage is None or (self._stage.label, self._stage.total) != (stage, total):
            self._stage = _Bar(stage, total)
        # Of several processes that do the same, the one ahead is shown.
        done = int(str(event.detail["done"]))
        if done > self._stage.done:
            self._stage.reach(done, now)
        self._line.draw(self._stage.text(_whose(event)))

    def _complete(self) -> None:
        """Show the bar as full, unless something went wrong or there is nothing to show."""
        if self._bar.total and self._ends <= {"completed"}:
            self._bar.done = self._bar.total
            self._line.draw(self._bar.text(), now=True)
        self._line.end()

    def end(self) -> None:
        self._ticker.stop()
        if self._ends:
            self._complete()
        self._line.end()


class _RunLines:
    """Lines where nobody watches: about waiting always, about progress only where wanted."""

    def __init__(self, clock: Callable[[], float], *, progress: bool) -> None:
        self._clock = clock
        self._progress = progress
        self._waiting = _Waiting(_say, clock)
        self._said = clock()

    def __call__(self, event: "Event") -> None:
        self._waiting(event)
        if not self._progress:
            return
        if event.kind == "finished":
            status = event.detail.get("status")
            _say(f"{event.run}: {event.done:,} of {event.total:,} queries, {status}")
        elif event.kind in ("indexing", "answered") and self._clock() - self._said >= SPARSE_S:
            self._said = self._clock()
            _say(f"{_whose(event)}: {_progress(event)}")


def _whose(event: "Event") -> str:
    """Return the run, or how many of them share what is done."""
    runs = event.detail.get("runs", 1)
    return event.run if runs == 1 else f"{runs} runs"


def _progress(event: "Event") -> str:
    if event.kind == "answered":
        return f"{event.done:,} of {event.total:,} queries"
    stage, done, total = (event.detail[key] for key in ("stage", "done", "total"))
    return f"{stage}, {done:,} of {total:,}" if total else str(stage)


def _say(text: str) -> None:
    click.echo(printable(text), err=True)
