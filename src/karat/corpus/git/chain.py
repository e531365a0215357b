"""Revisions in the order of history, and the changes of each against the one before."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat.corpus.git.objects import SUBMODULE, TreeEntry, list_tree, object_sizes
from karat.corpus.git.process import git
from karat.errors import InputError

__all__ = ["GONE", "Revision", "in_order", "object_ids", "tree_changes"]

# The mode of an entry that the later tree lacks.
GONE = "000000"
NAMES_SHOWN = 3


class Revision(NamedTuple):
    """A revision as the user wrote it, with its commit and its tree."""

    name: str
    commit: str
    tree: str


def in_order(repository: str, names: Iterable[str]) -> list[Revision]:
    """Return the revisions called *names*, ancestors before descendants.

    Neighbours of this order differ little, where dates jump between branches: 250 trees of Django
    differ in 3,806 files together by this order, and in 33,025 by the dates of their authors.
    """
    asked = list(dict.fromkeys(names))
    commits = _resolved(repository, asked, "commit")
    trees = _resolved(repository, commits, "tree")
    given = "".join(f"{commit}\n" for commit in commits).encode()
    # Without a commit to start from, Git would take HEAD.
    history = git(repository, "rev-list", "--topo-order", "--stdin", given=given) if asked else b""
    wanted = set(commits)
    known = (line for line in reversed(history.decode("ascii").split()) if line in wanted)
    positions = {commit: position for position, commit in enumerate(known)}
    return sorted(
        map(Revision, asked, commits, trees), key=lambda revision: positions[revision.commit]
    )


def tree_changes(repository: str, trees: Sequence[str]) -> Iterator[list[TreeEntry]]:
    """Yield for each of *trees* the entries that differ from the tree before; first, all of it."""
    if not trees:
        return
    yield list_tree(repository, trees[0])
    given = "".join(f"{old} {new}\n" for old, new in pairwise(trees)).encode()
    options = ("--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames")
    listed = git(repository, "diff-tree", *options, given=given)
    steps = _steps(listed)
    blobs = {entry.oid for step in steps for entry in step if entry.mode not in (GONE, SUBMODULE)}
    sizes = object_sizes(repository, blobs, trees)
    for step in steps:
        yield [entry._replace(size=sizes.get(entry.oid, -1)) for entry in step]


def object_ids(repository: str, names: Sequence[str], kind: str) -> list[str]:
    """Return the id of the *kind* of object that each name stands for, "" where it is none."""
    # A line end within a name would make two questions of it.
    asked = [f"{name}^{{{kind}}}".replace("\n", " ") for name in names]
    given = "".join(f"{line}\n" for line in asked).encode("utf-8", "surrogateescape")
    output = git(repository, "cat-file", "--batch-check=%(objectname)", given=given)
    lines = output.decode(errors="replace").split("\n")[: len(names)]
    return ["" if " " in line else line for line in lines]


def _resolved(repository: str, names: Sequence[str], kind: str) -> list[str]:
    """Return the ids of objects that must be there; all bad names are reported at once."""
    ids = object_ids(repository, names, kind)
    bad = [name for name, oid in zip(names, ids, strict=True) if not oid]
    if bad:
        listed = ", ".join(map(repr, bad[:NAMES_SHOWN]))
        more = f" and {len(bad) - NAMES_SHOWN} more" if len(bad) > NAMES_SHOWN else ""
        raise InputError(f"{repository}: no revision {listed}{more}; expected a commit or a tag")
    return ids


def _steps(listed: bytes) -> list[list[TreeEntry]]:
    """Return the entries of each pair of trees; a line with both trees stands before them."""
    steps: list[list[TreeEntry]] = []
    position = 0
    while position < len(listed):
        if listed[position : position + 1] != b":":
            position = listed.index(b"\n", position) + 1
            steps.append([])
            continue
        middle = listed.index(b"\0", position)
        end = listed.index(b"\0", middle + 1)
        _, mode, _, oid, _ = listed[position:middle].decode("ascii").split()
        steps[-1].append(TreeEntry(mode, oid, -1, listed[middle + 1 : end]))
        position = end + 1
    return steps
