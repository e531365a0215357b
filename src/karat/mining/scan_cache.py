"""A cache of Git's output per commit, in one SQLite file for all repositories."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

from karat.corpus.shared_file import WAIT_S, in_turn, share
from karat.errors import InputError

__all__ = ["ScanCache"]

# Change this name with the stored form or with the Git options.
_SCHEMA = "CREATE TABLE IF NOT EXISTS commit_1 (id BLOB PRIMARY KEY, answer BLOB)"
_SELECT = "SELECT answer FROM commit_1 WHERE id = ?"
_INSERT = "INSERT OR REPLACE INTO commit_1 VALUES (?, ?)"


class ScanCache:
    """Git's output by commit id, which determines it in every repository.

    A branch that has grown costs only its new commits, and no entry becomes stale. A value is Git's
    output with a checksum; a wrong checksum is a cache miss. A damaged file, or one that is not a
    database, is replaced. Several processes may use the cache at once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file."""
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with in_turn(self._path.parent):
                self._open()
        except sqlite3.Error as error:
            self._replace(error)

    def __enter__(self) -> "ScanCache":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def get(self, commits: Sequence[str]) -> dict[str, bytes]:
        """Return the cached output of *commits*, without the cache misses."""
        found: dict[str, bytes] = {}
        try:
            for commit in commits:
                key = bytes.fromhex(commit)
                row = self._database.execute(_SELECT, (key,)).fetchone()
                if row and crc32(row[0][4:]) == int.from_bytes(row[0][:4]):
                    found[commit] = row[0][4:]
        except sqlite3.Error as error:
            self._replace(error)
        return found

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Store *answers* in one transaction."""
        rows = [
            (bytes.fromhex(commit), crc32(answer).to_bytes(4) + answer)
            for commit, answer in answers.items()
        ]
        try:
            with self._database:
                self._database.executemany(_INSERT, rows)
        except sqlite3.Error as error:
            self._replace(error)

    def _open(self) -> None:
        try:
            self._database = sqlite3.connect(self._path, timeout=WAIT_S)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self._file = _number(self._path)
        # A damaged value may have the type of a text.
        self._database.text_factory = bytes
        share(self._database)
        self._database.execute(_SCHEMA)

    def _replace(self, error: sqlite3.Error) -> None:
        """Start with an empty file if *error* means that this one is damaged; raise otherwise."""
        # Its subclasses mean a lock, a full disk and the like, which a new file cannot fix.
        if type(error) is not sqlite3.DatabaseError:
            self._database.close()
            raise self._unusable(error) from error
        # Under a lock, so that no process opens a partly removed file.
        with in_turn(self._path.parent):
            # Another process may have replaced it already; an open file keeps its inode.
            is_here = _number(self._path) == self._file
            self._database.close()
            if is_here:
                for ending in ("", "-wal", "-shm"):
                    Path(f"{self._path}{ending}").unlink(missing_ok=True)
            try:
                self._open()
            except sqlite3.Error as again:
                self._database.close()
                raise self._unusable(again) from again

    def _unusable(self, error: sqlite3.Error) -> InputError:
        return InputError(f"{self._path}: cannot use the cache of commits: {error}")


def _number(path: Path) -> int:
    """Return the inode of a file, 0 if it does not exist."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
