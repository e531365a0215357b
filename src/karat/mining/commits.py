"""What mining knows of a commit: its message, and which files it changed."""

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
    "lose",
    "read_changes",
    "read_commit",
]


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


class Candidate(NamedTuple):
    """A commit that may become a case: the files to be found before it, and the question.

    *related_tests* are the tests that it changed; they are kept apart, for they show what the
    change does and do not hold it.
    """

    commit: Commit
    targets: tuple[Change, ...]
    related_tests: tuple[Change, ...]
    query: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the targets before the change, which is where they are searched."""
        return tuple(change.old_path for change in self.targets)


# A clone without trees or blobs fails at every commit. Starting Git anew after each takes seconds
# up to here; beyond, more would be lost than found.
MOST_UNREADABLE = 1000


class UnreadableCommit(NamedTuple):
    """A commit that Git could not show, and what it said; "" where it could not even go on."""

    commit: str
    reason: str


class UnreadableCommits:
    """Collects what is left out of one run.

    *unreadable* lists commits, *skipped* counts files by reason, and *notes* says what is worth
    knowing of the repository as a whole.
    """

    __slots__ = ("notes", "skipped", "unreadable")

    def __init__(self) -> None:
        """Start with nothing lost."""
        self.unreadable: list[UnreadableCommit] = []
        self.skipped: Counter[str] = Counter()
        self.notes: list[str] = []


def lose(losses: UnreadableCommits | None, commit: str, error: InputError) -> None:
    """Add *commit* to *losses*; raise *error* without them, or when there are too many."""
    if losses is None:
        raise error
    if len(losses.unreadable) == MOST_UNREADABLE:
        raise InputError(
            f"{MOST_UNREADABLE} commits cannot be read, expected a complete clone; "
            f"now {commit} because of {error}"
        ) from error
    losses.unreadable.append(UnreadableCommit(commit, str(error)))


# A NUL begins it, so that two in a row stand between commits and nowhere else: no path is empty,
# and Git lets no NUL into the rest. The message comes last, since it may have any number of lines.
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
        # What the class does when it is called, which takes twice as long.
        changes.append(tuple.__new__(Change, made))
    return tuple(changes)
