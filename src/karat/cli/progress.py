"""A bar on the terminal while something takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what to tell about done and total; None where nobody watches.

    The bar appears when first told, so that work without progress shows none.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        bars: list[ProgressBar[int]] = []

        def tell(done: int, total: int) -> None:
            if not bars:
                bar = click.progressbar(length=total, label=label, file=sys.stderr)
                bars.append(stack.enter_context(bar))
            bars[0].update(done - bars[0].pos)

        yield tell
