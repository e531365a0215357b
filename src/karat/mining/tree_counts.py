"""How many files a search has to choose from, at each of many commits."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat.corpus.git_chain import object_ids
from karat.corpus.git_process import git
from karat.corpus.traits import classify

__all__ = ["TreeCount", "tree_counts"]


class TreeCount(NamedTuple):
    """The files of a tree: without its tests, and all of them."""

    production: int
    all: int


def tree_counts(repository: str, commits: Iterable[str]) -> dict[str, TreeCount]:
    """Return the count of each commit, by the names of its files alone.

    The first tree is listed; from each to the next only what came and went is looked at, so that
    neighbours of a history cost little.
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
        count = TreeCount(
            count.production + more.production - fewer.production, count.all + more.all - fewer.all
        )
        counts[name] = count
    return counts


def _steps(repository: str, trees: Sequence[str]) -> list[tuple[list[bytes], list[bytes]]]:
    """Return the paths that came and those that went from each of *trees* to the next."""
    given = "".join(f"{old} {new}\n" for old, new in pairwise(trees)).encode()
    asked = ("--stdin", "-r", "-z", "--name-status", "--no-renames", "--diff-filter=AD")
    steps: list[tuple[list[bytes], list[bytes]]] = []
    fields = iter(git(repository, "diff-tree", *asked, given=given).split(b"\0"))
    for field in fields:
        # A line for each pair of trees, and perhaps the status of a path, which comes next.
        *pairs, status = field.split(b"\n")
        steps += [([], []) for _ in pairs]
        if status:
            steps[-1][status == b"D"].append(next(fields))
    return steps


def _counted(paths: Sequence[bytes]) -> TreeCount:
    tests = sum(classify(path.decode(errors="surrogateescape")).is_test for path in paths)
    return TreeCount(len(paths) - tests, len(paths))
