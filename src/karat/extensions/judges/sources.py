"""The text of hits: files of a folder, or of a repository at the base commit of each case."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from karat.corpus.files.content import Content, decode
from karat.experiments.commit_check import base_commits
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.experiments.snapshots import HEAD, NOWHERE_ELSE, homes, part_of
from karat.model import Dataset, Hit, Target
from karat.scoring.matching.modes import normalise
from karat.system.words import range_text

# Returns what a hit of a query, by its row, is in: the text at a path.
Code = Callable[[int, str], Content]


def folder_code(folder: str) -> Code:
    """Return a function that reads files in *folder*; files outside of it are not read."""
    root = Path(folder).resolve()

    def code(_row: int, path: str) -> Content:
        file = (root / path).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return Content("", reason=f"no such file in {folder}")
        return decode(file.read_bytes())

    return code


@contextmanager
def repository_code(
    data: Dataset, repositories: Mapping[str, str] = NOWHERE_ELSE, *, revision: str | None = None
) -> Iterator[Code]:
    """Yield a function that reads files at the ``base_commit`` of each case, else *revision*.

    Each case has its own repository: where it was mined, or one of *repositories* by its name; the
    current folder if the set names none.
    """
    with ExitStack() as stack:
        commits: dict[int, str] = {}
        tree_at: dict[int, Callable[[str], CommitSnapshot]] = {}
        for home, rows in homes(data, repositories, otherwise=".").items():
            default = revision or home.revision or HEAD
            known = base_commits(part_of(data, rows), home.folder, default=default).known
            # The hits of one query follow each other.
            at = lru_cache(maxsize=1)(stack.enter_context(SnapshotReader(home.folder)).at)
            for commit, rows_of_part in known.items():
                for row in rows_of_part:
                    commits[rows[row]] = commit
                    tree_at[rows[row]] = at

        def code(row: int, path: str) -> Content:
            if row not in commits:
                return Content("", reason=f"no commit {data.extras[row]['base_commit']!r}")
            tree, name = tree_at[row](commits[row]), normalise(path)
            if name not in tree.entries:
                return Content("", reason=f"no such file at {tree.short}")
            return tree.content(name)

        yield code


def target_text(target: Target | Hit) -> str:
    """Return the path, lines and symbol of a target, for people.

    >>> target_text(Target("a.py", 1, 3, 9)), target_text(Target("a.py", symbol="run"))
    ('a.py:3-9', 'a.py  run')
    """
    lines = range_text(target.path, target.start_line, target.end_line)
    return "  ".join(filter(None, (lines, target.symbol)))
