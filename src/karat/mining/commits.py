"""Commits as mining reads them: message, changed files, and commits that Git cannot read."""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    pass

__all__ = [
    "COMMIT",
    "Candidate",
    "Change",
    "Commit",
    "UnreadableCommit",
    "UnreadableCommits",
    "add_unreadable",
    "read_changes",
    "read_commit",
]


class Change(NamedTuple):
    """One changed file of a commit, compared with the first parent.

    *status* is A, M, D, R or T as in Git. *path* is the path after the commit (for D: before it);
    *old_path* differs from it only for R. A blob is all zeros on the side where the file does not
    exist. Bytes of a path that are not UTF-8 become lone surrogates; ``os.fsencode`` restores them.
    """

    status: str
    path: str
    old_path: str
    old_blob: str
    new_blob: str
    old_mode: str
    new_mode: str


class Commit(NamedTuple):
    """A commit; *time* is the committer's time in seconds since 1970.

    *changes* are against the first parent; a root commit is compared with an empty tree. *message*
    is the whole message. Bytes that are invalid in its encoding (UTF-8 unless the commit names
    another) become U+FFFD.
    """

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    email: str
    message: str
    changes: tuple[Change, ...]


class Candidate(NamedTuple):
    """A commit that may become a case: its target files as they were before it, and its query.

    *related_tests* are test files that the commit changed. They are not targets: a test shows what
    the change does, but does not contain it.
    """

    commit: Commit
    targets: tuple[Change, ...]
    related_tests: tuple[Change, ...]
    query: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the targets before the change, which is the version that engines search."""
        return tuple(change.old_path for change in self.targets)


# A clone without trees or blobs fails at every commit, and Git restarts after each failure. That
# takes seconds up to this limit; beyond it, the clone is unusable.
MOST_UNREADABLE = 1000


class UnreadableCommit(NamedTuple):
    """A commit that Git could not read, with Git's error; "" if Git stopped without a message."""

    commit: str
    reason: str


class UnreadableCommits:
    """Commits and files that one run could not read.

    *unreadable* lists commits, *skipped* counts files by reason, and *notes* are remarks about the
    whole repository.
    """

    __slots__ = ("notes", "skipped", "unreadable")

    def __init__(self) -> None:
        """Start empty."""
        self.unreadable: list[UnreadableCommit] = []
        self.skipped: Counter[str] = Counter()
        self.notes: list[str] = []


def add_unreadable(unreadable: UnreadableCommits | None, commit: str, error: InputError) -> None:
    """Add *commit* to *unreadable*; raise *error* if that is None or already too long."""
    if unreadable is None:
        raise error
    if len(unreadable.unreadable) == MOST_UNREADABLE:
        raise InputError(
            f"{MOST_UNREADABLE} commits cannot be read; expected a complete clone. "
            f"Last: {commit}: {error}"
        ) from error
    unreadable.unreadable.append(UnreadableCommit(commit, str(error)))


# The format begins with NUL, so two NULs in a row occur only between commits: no path is empty, and
# Git allows no NUL elsewhere. The message is last because it may have any number of lines.
COMMIT = ("--raw", "-z", "-M100%", "--encoding=UTF-8", "--format=%x00%H %ct %P%n%an%n%ae%n%B")


def read_commit(printed: bytes) -> Commit:
    r"""Return the commit that Git *printed* with the options COMMIT.

    >>> read_commit(b"c0 86400 p0\nAnn\na@b.c\nFix it\n\0\n:100644 100755 b0 b0 M\0a.py\0").message
    'Fix it'
    """
    head, _, raw = printed.lstrip(b"\0").partition(b"\0")
    about, author, email, message = head.decode(errors="replace").split("\n", 3)
    commit, time, *parents = about.split()
    return Commit(
        commit,
        tuple(parents),
        int(time),
        author,
        email,
        message.rstrip("\n"),
        read_changes(raw.lstrip(b"\n")),
    )


def read_changes(raw: bytes) -> tuple[Change, ...]:
    r"""Return the changes in records ``:mode mode blob blob status NUL path NUL``, in their order.

    The last NUL may be absent.

    >>> read_changes(b":100644 100644 b0 b0 R100\0a.py\0b.py\0")[0].old_path
    'a.py'
    """
    changes = []
    text = raw.decode(errors="surrogateescape").rstrip("\0")
    fields = iter(text.split("\0") if text else ())
    for about in fields:
        old_mode, new_mode, old_blob, new_blob, status = about.split(" ")
        path = old_path = next(fields, "")
        if status[0] == "R":
            path = next(fields, "")
        if not path:
            raise ValueError(f"no path after {about!r}")
        made = (status[0], path, old_path, old_blob, new_blob, old_mode[1:], new_mode)
        # Calls tuple.__new__ directly, which takes half the time of Change(...).
        changes.append(tuple.__new__(Change, made))
    return tuple(changes)
