"""A cache of Git's output per commit, in one SQLite file for all repositories."""

import os
from collections.abc import Mapping, Sequence
from typing import Self

from karat.system.sqlite import KeyValueFile

__all__ = ["ScanCache"]

# Raise it when the stored form or the options of the Git command change.
VERSION = 2


class ScanCache:
    """The output of Git by the id of a commit, which is the same in every repository.

    A branch that has grown costs its new commits only; no entry becomes stale. Several processes
    may use the file at once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file."""
        self._file = KeyValueFile(path, name="cache of commits", version=VERSION)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def get(self, commits: Sequence[str]) -> dict[str, bytes]:
        """Return the output for those *commits* that are in the cache."""
        hits = self._file.get([bytes.fromhex(commit) for commit in commits])
        return {key.hex(): answer for key, answer in hits.items()}

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Store *answers* in one transaction."""
        self._file.put({bytes.fromhex(commit): answer for commit, answer in answers.items()})
