"""How many files a commit has, without reading any."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat.corpus.files.traits import classify
from karat.corpus.git import object_ids
from karat.corpus.git_objects import git


class FileCount(NamedTuple):
    """The number of files in a commit: without tests, and in total."""

    production: int
    all: int


def count_files(repository: str, commits: Iterable[str]) -> dict[str, FileCount]:
    """Return the count of each commit, from the names of its files only.

    The first commit is listed; after that, only added and removed paths are read, so that
    neighbouring commits are cheap.
    """
    names = list(dict.fromkeys(commits))
    if not names:
        return {}
    trees = object_ids(repository, names, "tree")
    listed = git(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", trees[0])
    count = _counted(listed.split(b"\0")[:-1])
    counts = {names[0]: count}
    for name, (came, went) in zip(names[1:], _steps(repository, trees), strict=True):
        more, fewer = _counted(came), _counted(went)
        count = FileCount(
            count.production + more.production - fewer.production, count.all + more.all - fewer.all
        )
        counts[name] = count
    return counts


def _steps(repository: str, trees: Sequence[str]) -> list[tuple[list[bytes], list[bytes]]]:
    """Return the added and the removed paths from each of *trees* to the next."""
    given = "".join(f"{old} {new}\n" for old, new in pairwise(trees)).encode()
    options = ("--stdin", "-r", "-z", "--name-status", "--no-renames", "--diff-filter=AD")
    steps: list[tuple[list[bytes], list[bytes]]] = []
    fields = iter(git(repository, "diff-tree", *options, given=given).split(b"\0"))
    for entry in fields:
        # A line for each pair of trees, and perhaps the status of the following path.
        *pairs, status = entry.split(b"\n")
        steps += [([], []) for _ in pairs]
        if status:
            steps[-1][status == b"D"].append(next(fields))
    return steps


def _counted(paths: Sequence[bytes]) -> FileCount:
    tests = sum(classify(path.decode(errors="surrogateescape")).is_test for path in paths)
    return FileCount(len(paths) - tests, len(paths))
