"""What mining knows of a commit: its message, and which files it changed."""

from typing import NamedTuple

__all__ = ["Change", "Commit"]


class Change(NamedTuple):
    """One file of a commit, against the first parent.

    *status* is A, M, D, R or T as Git writes it; *path* is the path after the commit, and for D
    the path before. *old_path* differs from it only for R.
    """

    status: str
    path: str
    old_path: str
    old_blob: str
    new_blob: str
    old_mode: str
    new_mode: str


class Commit(NamedTuple):
    """A commit; *time* is the committer's, in seconds since 1970."""

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    email: str
    message: str
    changes: tuple[Change, ...]
