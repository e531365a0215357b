"""What mining knows of a commit: its message, and which files it changed."""

from typing import NamedTuple

__all__ = ["Change", "Commit"]


class Change(NamedTuple):
    """One file of a commit, against the first parent.

    *status* is A, M, D, R or T as Git writes it; *path* is the path after the commit, and for D
    the path before. *old_path* differs from it only for R. A blob is all zeros on the side where
    the file does not exist. Bytes of a path that are not UTF-8 are lone surrogates, from which
    ``os.fsencode`` makes the bytes again.
    """

    status: str
    path: str
    old_path: str
    old_blob: str
    new_blob: str
    old_mode: str
    new_mode: str


class Commit(NamedTuple):
    """A commit; *time* is the committer's, in seconds since 1970.

    *changes* are against the first parent, for a root against nothing. *message* is the whole
    message; what does not fit its encoding, UTF-8 unless the commit names another, is U+FFFD.
    """

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    email: str
    message: str
    changes: tuple[Change, ...]
