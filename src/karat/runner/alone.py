"""Whether other work of Karat runs beside this one: times are taken only where none does."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["lock_file", "working"]

POLL_S = 0.1


def lock_file() -> Path:
    """Return the file by which the processes of this user know of each other."""
    from karat.engines.embedding.cache import cache_folder

    return cache_folder() / "work.lock"


@contextmanager
def working(
    place: Path,
    *,
    alone: bool,
    waiting: Callable[[], None],
    cancelled: Callable[[], bool],
) -> Iterator[bool]:
    """Work beside others, or *alone*; yield whether that is assured.

    Work that must be alone waits until all other work has ended, and all other work waits for it;
    *waiting* is called once if so, and *cancelled* ends the wait. The system lets go of the lock
    when the process ends, however it does. Where there are no such locks nothing is assured.
    """
    try:
        import fcntl

        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield False
        return
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    told = held = False
    try:
        while not held and not cancelled():
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
                held = True
            except BlockingIOError:
                if not told:
                    waiting()
                told = True
                time.sleep(POLL_S)
        yield held
    finally:
        os.close(descriptor)
