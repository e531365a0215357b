"""Commits as mining reads them: message, changed files and changed lines."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from sys import maxsize
from typing import NamedTuple

from karat.corpus.chunkers.grammars import Symbol, SyntaxTree, tree_symbols
from karat.corpus.git_objects import git, git_blocks
from karat.errors import InputError

_DIFF_TREE_OPTIONS = ("--stdin", "-r", "-z", "--root", "--diff-merges=first-parent", "--no-abbrev")
# Overrides the configuration and attributes of the repository.
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative")


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


def each_diff(
    repository: str, commits: Sequence[str], *options: str, unreadable: UnreadableCommits | None
) -> Iterator[tuple[str, bytes]]:
    """Yield each of *commits* with the output of ``git diff-tree *options*``, in order.

    Each commit is compared with its first parent, a root commit with an empty tree. A commit that
    Git cannot read is added to *unreadable*, and a new process reads the rest; without *unreadable*
    it raises InputError.
    """
    # In its own folder Git does not see the work tree, whose current attributes would decide which
    # old files are text.
    folder = os.fsdecode(git(repository, "rev-parse", "--absolute-git-dir")).removesuffix("\n")
    left = commits
    while left:
        done = 0
        try:
            for done, output in enumerate(_outputs(folder, left, options), start=1):
                yield left[done - 1], output
            return
        except InputError as error:
            add_unreadable(unreadable, left[done], error)
        left = left[done + 1 :]


def _outputs(repository: str, commits: Sequence[str], options: Sequence[str]) -> Iterator[bytes]:
    """Yield the output for each of *commits* until Git fails."""
    # Git echoes a line that is not an id, which marks the end of each answer. No commit can contain
    # its own id, so no answer contains its own mark.
    marks = [b"\x01%s\n" % commit.encode() for commit in commits]
    ids_and_marks = b"".join(mark[1:] + mark for mark in marks)
    awaited = iter(marks)
    mark = next(awaited)
    buffer = bytearray()
    for block in git_blocks(
        repository, "diff-tree", *_DIFF_TREE_OPTIONS, *_PLAIN, *options, given=ids_and_marks
    ):
        # The mark may begin in the block before.
        begin, seen = 0, max(len(buffer) - len(mark), 0)
        buffer += block
        while (end := buffer.find(mark, seen)) >= 0:
            yield bytes(buffer[begin:end])
            begin = seen = end + len(mark)
            mark = next(awaited, mark)
        del buffer[:begin]


# Fixed, so that neither the configuration nor a newer Git moves a line. At most 1000 files on each
# side are compared for renames.
_PATCH_OPTIONS = (
    *("--no-commit-id", "--raw", "-p", "-U0", "--inter-hunk-context=0", "-l1000"),
    *("--diff-algorithm=myers", "--indent-heuristic", "--submodule=short"),
)
_HALF_ALIKE = 50
# All other lines of a patch without context start with + or -, whatever the files contain.
_SECTION = b"\ndiff --git "
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_BINARY = b"\nBinary files "


class Hunk(NamedTuple):
    """Replaced lines, counted from 1; a side without lines has the number of the line before.

    So ``Hunk(4, 0, 5, 2)`` adds two lines after line 4, which become lines 5 and 6.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int

    @property
    def row(self) -> int:
        """Return the old line, from 0, at which lines were removed or inserted."""
        return self.old_start - 1 if self.old_lines else self.old_start


class FileDiff(NamedTuple):
    """The diff of one file; a change of type (T) has the hunks of the removed file."""

    change: Change
    hunks: tuple[Hunk, ...]
    is_binary: bool


def diffs(
    repository: str,
    commits: Sequence[str],
    *,
    alike: int = _HALF_ALIKE,
    paths: Collection[str] = (),
    unreadable: UnreadableCommits | None = None,
) -> Iterator[tuple[str, tuple[FileDiff, ...]]]:
    """Yield each of *commits* with its files, compared with the first parent, in order.

    An entry "commit parent" (two ids and a blank) replaces the parent. Files that are *alike* by at
    least that percentage are renames. With *paths*, only those paths are compared. A commit that
    cannot be read, for example because a partial clone lacks a file, is added to *unreadable*;
    without it, the first one raises InputError.
    """
    only = ("--", *(f":(top,literal){path}" for path in paths)) if paths else ()
    options = (*_PATCH_OPTIONS, f"-M{alike}%", *only)
    for commit, printed in each_diff(repository, commits, *options, unreadable=unreadable):
        try:
            yield commit, _files(printed)
        except InputError as error:
            add_unreadable(unreadable, commit, error)


def _files(printed: bytes) -> tuple[FileDiff, ...]:
    """Parse the files of one commit: first all raw records, then one patch section for each.

    Only the records have unquoted paths, so records and sections are paired by order. A change of
    type has two sections.
    """
    raw, _, patch = printed.partition(b"\0\0")
    changes = read_changes(raw)
    sections = (b"\n" + patch).split(_SECTION)[:0:-1]
    if len(sections) != sum(2 if change.status == "T" else 1 for change in changes):
        raise InputError(f"git diff-tree: {len(changes)} files, but {len(sections)} patches")
    files = []
    for change in changes:
        files.append(_file(change, sections.pop()))
        if change.status == "T":
            sections.pop()
    return tuple(files)


def _file(change: Change, section: bytes) -> FileDiff:
    hunks = tuple(
        Hunk(int(old), int(gone or 1), int(new), int(come or 1))
        for old, gone, new, come in _HUNK.findall(section)
    )
    return FileDiff(change, hunks, not hunks and _BINARY in section)


CHANGED, TOUCHED = 2, 1


class Region(NamedTuple):
    """Lines before the change, from 1, *end_line* included, and the definitions around them.

    *grade* is 2 for lines that were replaced or removed, and 1 for an insertion. An insertion has
    no old lines, so its region is the line before and the line after it, if they exist. *symbols*
    are the innermost definitions of these lines, in order; lines outside of all definitions have
    none.
    """

    start_line: int
    end_line: int
    grade: int
    symbols: tuple[Symbol, ...]


def regions(hunks: Sequence[Hunk], text: str, parsed: SyntaxTree | None) -> Iterator[Region]:
    r"""Yield a region for each of *hunks* in *text*; only LF ends a line.

    Without a syntax tree, regions have no symbols. An insertion into an empty file has no region.

    >>> hunks = [Hunk(0, 0, 1, 1), Hunk(3, 2, 3, 9), Hunk(8, 0, 16, 1)]
    >>> [region[:3] for region in regions(hunks, "x\n" * 8, None)]
    [(1, 1, 1), (3, 4, 2), (8, 8, 1)]
    """
    # Only an insertion can have a line beyond the end, and only the last one.
    last_line = _count(text) if hunks and not hunks[-1].old_lines else maxsize
    for start, count, _, _ in hunks:
        first, last = (start, start + count - 1) if count else (start, start + 1)
        first, last = max(first, 1), min(last, last_line)
        if first <= last:
            around = _innermost(parsed, first, last) if parsed else ()
            yield Region(first, last, CHANGED if count else TOUCHED, tuple(around))


def _count(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def _innermost(parsed: SyntaxTree, first: int, last: int) -> Iterable[Symbol]:
    owner: dict[int, Symbol] = {}
    # Outer definitions come first, so the innermost is written last.
    for symbol in tree_symbols(parsed, (first, last)):
        begin, end = max(symbol.start_line, first), min(symbol.end_line, last)
        owner.update(dict.fromkeys(range(begin, end + 1), symbol))
    return dict.fromkeys(owner[line] for line in sorted(owner))
