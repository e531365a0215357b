"""Which lines of which files the chosen commits changed."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.mining.commits import Change
from karat.mining.diff_tree import each_diff
from karat.mining.losses import Losses, lose
from karat.mining.raw import read_changes

__all__ = ["FileDiff", "Hunk", "diffs"]

# Fixed, so that neither settings nor a newer Git move a line: at most a thousand files on each side
# are tried for a rename.
_ASKED = (
    *("--no-commit-id", "--raw", "-p", "-U0", "--inter-hunk-context=0", "-l1000"),
    *("--diff-algorithm=myers", "--indent-heuristic", "--submodule=short"),
)
_HALF_ALIKE = 50
# Every other line of a patch without context starts with + or -, whatever the files contain.
_SECTION = b"\ndiff --git "
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_BINARY = b"\nBinary files "


class Hunk(NamedTuple):
    """Lines that were replaced, counted from 1; with no lines on a side, the line before them.

    So ``Hunk(4, 0, 5, 2)`` adds two lines after line 4, which become lines 5 and 6.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int

    @property
    def row(self) -> int:
        """Return the old line, from 0, at which lines were removed or before which some came."""
        return self.old_start - 1 if self.old_lines else self.old_start


class FileDiff(NamedTuple):
    """One file of a commit; a change of its type (T) has the hunks of what was removed."""

    change: Change
    hunks: tuple[Hunk, ...]
    is_binary: bool


def diffs(
    repository: str,
    commits: Sequence[str],
    *,
    alike: int = _HALF_ALIKE,
    paths: Collection[str] = (),
    losses: Losses | None = None,
) -> Iterator[tuple[str, tuple[FileDiff, ...]]]:
    """Yield each of *commits* with its files, compared with the first parent, in order.

    A commit may be followed by a blank and another one, which then stands for its parent. Files
    *alike* by at least that percentage are renames. With *paths* only those are compared. A commit
    that cannot be read, since a partial clone lacks a file for example, goes to *losses*; without
    it the first raises InputError.
    """
    only = ("--", *(f":(top,literal){path}" for path in paths)) if paths else ()
    asked = (*_ASKED, f"-M{alike}%", *only)
    for commit, printed in each_diff(repository, commits, *asked, losses=losses):
        try:
            yield commit, _files(printed)
        except InputError as error:
            lose(losses, commit, error)


def _files(printed: bytes) -> tuple[FileDiff, ...]:
    """Return the files of one commit: first all raw records, then a section of the patch for each.

    Only the records have the paths as they are, so the two are paired by their order. A change of
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
