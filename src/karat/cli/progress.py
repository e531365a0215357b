"""Bars on the terminal while something takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

__all__ = ["progress_bar", "progress_bars"]


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


def _bar(label: str, total: int) -> "ProgressBar[int]":
    if total:
        return click.progressbar(length=total, label=label, file=sys.stderr)
    return click.progressbar(repeat(0), label=label, file=sys.stderr, show_pos=True)
