"""Locks on files and folders, among all threads and processes of a machine.

The kernel releases a lock when its process ends, however it ends. Some systems and file systems
have no such locks; each function says what it does there.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import finalize

# How long to wait for a lock that others hold for less than a millisecond.
POLL_S, TRIES = 0.005, 200


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on *folder*, among all threads and processes.

    On systems and disks without such locks the block runs without one.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Create the file *path* and lock it among all threads and processes; True if that worked.

    Afterwards the file is removed. On systems and disks without such locks it always works.
    """
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):
        yield True
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass
        # The last holder may have removed the file between opening and locking it.
        if not path.exists() or not os.path.samestat(os.fstat(descriptor), path.stat()):
            yield False
            return
        try:
            yield True
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextmanager
def locked_file(path: Path) -> Iterator[int]:
    """Create the file *path* if it is missing, lock it, and yield its descriptor.

    OSError or ImportError if it cannot be locked, or stays locked for a second.
    """
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        for left in reversed(range(TRIES)):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    raise
                time.sleep(POLL_S)
        yield descriptor
    finally:
        os.close(descriptor)


class LockedFile:
    """A new file that is locked for as long as this process lives, or until it is removed."""

    def __init__(self, path: Path, *, mode: int = 0o600) -> None:
        """Create and lock the file; OSError or ImportError where that is impossible."""
        import fcntl

        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        self._close = finalize(self, os.close, self.descriptor)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the file, then release the lock; calling it twice is fine."""
        if self._close.alive:
            with suppress(OSError):
                self.path.unlink()
            self._close()


def is_free(path: Path) -> bool:
    """Return whether the file *path* exists and no process has a lock on it."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        return False
    try:
        # Shared, so that two processes that look at once do not disturb each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
