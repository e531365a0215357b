"""What was there before engines are asked is not looked through for garbage meanwhile."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["settled"]


@contextmanager
def settled() -> Iterator[None]:
    """Let the collector look through what is new only.

    All modules and what they hold would take it tens of milliseconds, between two queries, and
    nothing of it is garbage.
    """
    if gc.get_freeze_count():
        # Somebody else has done so, and ends it.
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
