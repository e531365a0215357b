"""Bars on the terminal while something takes long."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import click

from karat.report.display import printable

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from karat.runner import Event

__all__ = ["progress_bar", "progress_bars", "run_progress"]


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what to tell about done and total; None where nobody watches.

    The bar appears when first told, so that work without progress shows none.
    """
    with progress_bars() as tell:
        yield tell and partial(tell, label)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what to tell about label, done and total; each label gets a bar of its own.

    A total of 0 is one that nobody knows: then the bar counts.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        shown: dict[str, ProgressBar[int]] = {}

        def tell(label: str, done: int, total: int) -> None:
            if label not in shown:
                stack.close()
                shown.clear()
                shown[label] = stack.enter_context(_bar(label, total))
            shown[label].update(done - shown[label].pos)

        yield tell


@contextmanager
def run_progress(total: int) -> "Iterator[Callable[[Event], None]]":
    """Yield what hears of runs: a bar over the *total* of answers on a terminal, lines in CI."""
    waiting = _Waiting()
    if not sys.stderr.isatty():
        yield partial(_line, waiting) if os.environ.get("CI") else waiting
        return
    bar = click.progressbar(
        length=total, label="asking", file=sys.stderr, item_show_func=lambda name: name
    )
    ends: set[object] = set()
    with bar:

        def tell(event: "Event") -> None:
            waiting(event)
            if event.kind == "answered":
                bar.update(1, event.run)
            if event.kind == "finished":
                ends.add(event.detail.get("status"))

        yield tell
        if ends <= {"completed"}:
            # What was answered before is not asked again.
            bar.update(total - bar.pos)


class _Waiting:
    """Says once that times are not taken while other work goes on."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, event: "Event") -> None:
        if event.kind == "waiting" and not self._said:
            self._said = True
            click.echo("waiting for other work of Karat to end; times are taken alone", err=True)


def _line(waiting: _Waiting, event: "Event") -> None:
    waiting(event)
    if event.kind == "finished":
        status = event.detail.get("status")
        line = f"{event.run}: {event.done:,} of {event.total:,} queries, {status}"
        click.echo(printable(line), err=True)


def _bar(label: str, total: int) -> "ProgressBar[int]":
    if total:
        return click.progressbar(length=total, label=label, file=sys.stderr)
    return click.progressbar(repeat(0), label=label, file=sys.stderr, show_pos=True)
