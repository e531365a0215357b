"""Progress bars on a terminal, and occasional lines elsewhere."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, TextIO

import click

from karat.report.display import display_width, printable, shorten
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.app.evaluate import RunEvent


# Steps of a minute ago count half as much as those of now.
HALF_LIFE_S = 60.0
# Before that, an estimate would rest on a few steps and be wrong by a factor.
LEAST_S, LEAST_STEPS = 3.0, 3


class Pace:
    """The average time of a step, over the last minutes.

    >>> pace = Pace()
    >>> for second in range(11):
    ...     pace.step(2, float(second))
    >>> pace.left_s(100)
    50.0
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._elapsed_s = 0.0
        self._updates = 0
        self._steps = self._seconds = 0.0

    def step(self, count: int, now: float) -> None:
        """Count *count* further steps that ended at *now*."""
        if self._last is not None:
            spent = max(now - self._last, 0.0)
            decay = 0.5 ** (spent / HALF_LIFE_S)
            self._steps = self._steps * decay + count
            self._seconds = self._seconds * decay + spent
            self._elapsed_s += spent
            self._updates += 1
        self._last = now

    def pause(self) -> None:
        """Leave the time until the next step out, and that step."""
        self._last = None

    def left_s(self, steps: int) -> float | None:
        """Return how long *steps* take; None as long as it is unknown."""
        known = self._elapsed_s >= LEAST_S and self._updates >= LEAST_STEPS and self._steps > 0
        return steps * self._seconds / self._steps if known else None


def clock_time(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    >>> clock_time(67.4), clock_time(4000)
    ('0:01:07', '1:06:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


BAR = 24
# A bar that is drawn more often only costs time.
REDRAW_S = 0.1
TICK_S = 1.0


def bar_text(label: str, done: int, total: int, pace: Pace, name: str = "") -> str:
    """Return a bar; without a *total*, the count.

    >>> bar_text("querying", 1, 2, Pace(), "bm25")
    'querying  [############------------]  50%  bm25'
    >>> bar_text("reading", 1200, 0, Pace())
    'reading   1,200'
    """
    if not total:
        parts = [f"{label:<9} {done:,}" if done else f"{label:<9} ..."]
    else:
        filled = BAR * done // total
        parts = [f"{label:<9} [{'#' * filled}{'-' * (BAR - filled)}] {100 * done // total:3}%"]
        left = pace.left_s(total - done)
        if left is not None and done < total:
            parts.append(f"{clock_time(left)} left")
    return "  ".join([*parts, *([name] if name else [])])


class StatusLine:
    """Draws texts over each other; anything else is printed above, on lines of its own."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._drawn = ""
        self._at = -REDRAW_S

    def draw(self, text: str, *, now: bool = False) -> None:
        """Show *text* in place of what was there; unless *now*, not more often than one can see."""
        if not now and self._clock() - self._at < REDRAW_S:
            return
        self._at = self._clock()
        # The last column stays free: some terminals begin a new line there.
        text = shorten(printable(text), _columns() - 1)
        if text != self._drawn:
            gap = " " * max(display_width(self._drawn) - display_width(text), 0)
            self._write(f"\r{text}{gap}")
            self._drawn = text

    def say(self, text: str) -> None:
        """Print *text* above, broken between words."""
        drawn = self._drawn
        self._write(f"\r{' ' * display_width(drawn)}\r{wrapped(text)}\n{drawn}")

    def clear(self) -> None:
        """Wipe what is drawn, so that the next text takes its line."""
        if self._drawn:
            self._write(f"\r{' ' * display_width(self._drawn)}\r")
        self._drawn = ""

    def end(self) -> None:
        """Leave what is drawn, and go on below it."""
        if self._drawn:
            self._write("\n")
        self._drawn = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Ticker:
    """Calls a function once a second, from a thread of its own, between start and stop."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Call at once, and then every second."""
        self.stop()
        self._call()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, args=(self._stopped,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return when there will be no further call."""
        self._stopped.set()
        if self._thread:
            self._thread.join()
        self._thread = None

    def _tick(self, stopped: threading.Event) -> None:
        while not stopped.wait(TICK_S):
            self._call()


def wrapped(text: str) -> str:
    """Return *text* in lines that fit the terminal, broken between words."""
    from textwrap import fill

    width = _columns() - 1
    return fill(printable(text), width, break_long_words=False, break_on_hyphens=False)


def _columns() -> int:
    return get_terminal_size().columns


# Without a terminal, the minimum time between two lines about progress.
SPARSE_S = 20.0
# Indexing is shown only after this time without an answered query, so as not to flicker.
INDEXING_S = 1.0
NAMED = 3


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback for done and total; None without a terminal.

    The bar appears with the first call, so that work without progress shows none.
    """
    with progress_bars() as tell:
        yield tell and partial(tell, label)


@contextmanager
def progress_bars(
    clock: Callable[[], float] = monotonic,
) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a callback for label, done and total; each label has its own bar.

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
) -> "Iterator[Callable[[RunEvent], None]]":
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


def checking_text(detail: Mapping[str, object]) -> str:
    """Return which process the runs may belong to, by the *detail* of a ``checking`` event.

    >>> checking_text({"holder": "host m1, process 812", "command": "compare"})[:50]
    'Waiting up to 20 s to see whether the process that'
    """
    from karat.experiments.store.base import LEASE_S

    who = ", ".join(str(detail[key]) for key in ("holder", "command") if key in detail)
    return (
        f"Waiting up to {LEASE_S:.0f} s to see whether the process that works on this experiment "
        f"({who}) is alive"
    )


def waiting_text(holders: Sequence[Mapping[str, object]]) -> str:
    """Return that latency is not measured yet, and which runs are in the way.

    *holders* are those of a ``waiting`` event.
    """
    who = "another karat run" if len(holders) == 1 else f"{len(holders)} other karat runs"
    named = [f"pid {one['pid']}: {one['command']}, since {_local(one)}" for one in holders]
    return (
        f"Waiting for {who} ({_first_of(named)}) so that latency is not distorted; "
        "--no-wait to continue now"
    )


def disturbed_text(holders: Sequence[Mapping[str, object]], *, waited: bool) -> str:
    """Return that latency is measured beside *holders*, those of a ``disturbed`` event.

    With *waited*, they began after the wait, so that waiting is no advice.

    >>> disturbed_text([{"pid": 1798, "command": "compare"}], waited=True)
    'Latency is disturbed: another karat run is active (pid 1798: compare)'
    """
    one = len(holders) == 1
    who = "another karat run is" if one else f"{len(holders)} other karat runs are"
    named = _first_of([f"pid {each['pid']}: {each['command']}" for each in holders])
    advice = "" if waited else f"; --wait measures when {'it has' if one else 'they have'} ended"
    return f"Latency is disturbed: {who} active ({named}){advice}"


def _first_of(named: Sequence[str]) -> str:
    """Return the first NAMED runs, and how many more there are."""
    more = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
    return "; ".join([*named[:NAMED], *more])


def units_text(detail: Mapping[str, object]) -> str:
    """Return the numbers of a ``units`` event.

    >>> units_text({"units": 6, "slots": 4, "lost": 1})
    '6 units on 4 slots, 1 lost'
    >>> units_text({"units": 4, "slots": 4, "lost": 0, "embedded": 3, "to_embed": 8})
    '4 units on 4 slots, embedding: 3 of 8 units'
    """
    names = ("units", "slots", "lost", "embedded", "to_embed")
    units, slots, lost, embedded, to_embed = (int(str(detail.get(name, 0))) for name in names)
    text = f"{counted(units, 'unit')} on {counted(slots, 'slot')}"
    text += f", {lost} lost" if lost else ""
    return f"{text}, embedding: {embedded} of {to_embed} units" if embedded < to_embed else text


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
    """Prints which processes are waited for or disturb, and when the wait is over."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._say = say
        self._clock = clock
        self._holders: object = None
        self._disturbing: object = None
        self._since: float | None = None

    def __call__(self, event: "RunEvent") -> None:
        if event.kind == "checking":
            self._say(checking_text(event.detail))
        elif event.kind == "waiting" and event.detail.get("holders") != self._holders:
            holders = event.detail.get("holders")
            self._holders = holders
            if self._since is None:
                self._since = self._clock()
            if isinstance(holders, list):
                self._say(waiting_text(holders))
        elif event.kind == "disturbed" and event.detail.get("holders") != self._disturbing:
            # Each run reports it.
            self._disturbing = holders = event.detail.get("holders")
            if isinstance(holders, list):
                self._say(disturbed_text(holders, waited=bool(event.detail.get("waited"))))
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
        # Units on slots of other machines.
        self._units = ""

    def __call__(self, event: "RunEvent") -> None:
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
            self._line.draw(self._bar.text(self._units or event.run))
        elif event.kind == "units":
            self._units = units_text(event.detail)
        elif event.kind == "finished":
            self._ends.add(event.detail.get("status"))

    def _started(self, event: "RunEvent") -> None:
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

    def _indexing(self, event: "RunEvent") -> None:
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
    """Lines without a terminal: about waiting always, about progress only if wanted."""

    def __init__(self, clock: Callable[[], float], *, progress: bool) -> None:
        self._clock = clock
        self._progress = progress
        self._waiting = _Waiting(_say, clock)
        self._said = clock()
        self._lost = 0

    def __call__(self, event: "RunEvent") -> None:
        self._waiting(event)
        if event.kind == "units" and (lost := int(str(event.detail["lost"]))) > self._lost:
            self._lost = lost
            _say(units_text(event.detail))
        if not self._progress:
            return
        if event.kind == "finished":
            status = event.detail.get("status")
            _say(f"{event.run}: {event.done:,} of {event.total:,} queries, {status}")
        elif event.kind in ("indexing", "answered") and self._clock() - self._said >= SPARSE_S:
            self._said = self._clock()
            _say(f"{_whose(event)}: {_progress(event)}")


def _whose(event: "RunEvent") -> str:
    """Return the run, or how many of them share what is done."""
    runs = event.detail.get("runs", 1)
    return event.run if runs == 1 else f"{runs} runs"


def _progress(event: "RunEvent") -> str:
    if event.kind == "answered":
        return f"{event.done:,} of {event.total:,} queries"
    stage, done, total = (event.detail[key] for key in ("stage", "done", "total"))
    return f"{stage}, {done:,} of {total:,}" if total else str(stage)


def _say(text: str) -> None:
    click.echo(printable(text), err=True)
