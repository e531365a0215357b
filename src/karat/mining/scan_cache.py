"""What Git said about each commit, kept in one SQLite file for all repositories."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

from karat.corpus.shared_file import WAIT_S, in_turn, share
from karat.errors import InputError

__all__ = ["ScanCache"]

# Another stored form, or another question to Git, needs another name.
_SCHEMA = "CREATE TABLE IF NOT EXISTS commit_1 (id BLOB PRIMARY KEY, answer BLOB)"
_SELECT = "SELECT answer FROM commit_1 WHERE id = ?"
_INSERT = "INSERT OR REPLACE INTO commit_1 VALUES (?, ?)"


class ScanCache:
    """Answers of Git by the id of the commit, which settles them wherever the commit is found.

    So a branch that has grown costs its new commits only, and nothing ever becomes stale. Values
    are Git's own bytes behind their checksum: one that does not match counts as unknown. A file
    that is no database, or a damaged one, is replaced. Several processes may use it at once.
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
        """Return the answers that are known."""
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
        """Keep *answers*, all in one transaction."""
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
        # A damaged value may claim to be a text.
        self._database.text_factory = bytes
        share(self._database)
        self._database.execute(_SCHEMA)

    def _replace(self, error: sqlite3.Error) -> None:
        """Start with an empty file where *error* says that this one is damaged, or give up."""
        # Its subclasses stand for a lock, a full disk and the like, which a new file cannot mend.
        if type(error) is not sqlite3.DatabaseError:
            self._database.close()
            raise self._unusable(error) from error
        # In turn, so that nobody opens a file of which only a part has been removed.
        with in_turn(self._path.parent):
            # Another process may have replaced it since; a file that is open keeps its number.
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
        return InputError(f"{self._path}: no usable cache of commits: {error}")


def _number(path: Path) -> int:
    """Return the number by which the disk knows a file, 0 where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
