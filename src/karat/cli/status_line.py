"""One line at the bottom of a terminal that is drawn over and over."""

from collections.abc import Callable
from shutil import get_terminal_size
from threading import Event, Thread
from typing import TextIO

from karat.cli.pace import Pace, clock_time
from karat.report.display import display_width, printable, shorten

__all__ = ["StatusLine", "Ticker", "bar_text", "wrapped"]

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
        self._stopped = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Call at once, and then every second."""
        self.stop()
        self._call()
        self._stopped = Event()
        self._thread = Thread(target=self._tick, args=(self._stopped,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return when there will be no further call."""
        self._stopped.set()
        if self._thread:
            self._thread.join()
        self._thread = None

    def _tick(self, stopped: Event) -> None:
        while not stopped.wait(TICK_S):
            self._call()


def wrapped(text: str) -> str:
    """Return *text* in lines that fit the terminal, broken between words."""
    from textwrap import fill

    width = _columns() - 1
    return fill(printable(text), width, break_long_words=False, break_on_hyphens=False)


def _columns() -> int:
    return get_terminal_size().columns
