"""Disks and databases without space: which errors mean that, and how much is free."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from karat.errors import StorageFull

__all__ = ["free_bytes", "is_full"]

ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
# PostgreSQL's code for disk_full.
SQLSTATE_DISK_FULL = "53100"


def is_full(error: BaseException) -> bool:
    """Return whether *error*, or the error that it was raised from, means that a disk is full.

    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError("other"))
    (True, False)
    """
    return any(map(_means_full, _chain(error)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _means_full(error: BaseException) -> bool:
    # The lower byte of SQLite's code is the kind of error, the rest a detail of it.
    return (
        isinstance(error, StorageFull)
        or (isinstance(error, OSError) and error.errno in ERRNOS)
        or getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        or getattr(error, "sqlstate", None) == SQLSTATE_DISK_FULL
    )


def free_bytes(folder: str | os.PathLike[str]) -> int:
    """Return the free space on the disk of *folder*, which need not exist yet."""
    path = Path(folder).absolute()
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free
