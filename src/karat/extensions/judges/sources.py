"""The text of hits: files of a folder, or of a repository at the base commit of each case."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from karat.corpus.files.content import Content, decode
from karat.experiments.commit_check import base_commits
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.experiments.snapshots import HEAD, NOWHERE_ELSE, homes, part_of
from karat.model import Dataset, Hit, Target
from karat.report.display import printable
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


# Lines around a hit, and the most that are printed.
AROUND = 3
MOST = 60
TAB = "    "


def code_lines(lines: Sequence[str], start: int, end: int) -> list[str]:
    r"""Return the lines *start* to *end* (from 1) marked by ``>``, with a few around them.

    With 0 and 0 they are the first ones, unmarked. Of many, the rest is counted.

    >>> code_lines(["a = 1\n", "b = 2\n"], 2, 2)
    ['  1   a = 1', '  2 > b = 2']
    """
    first = max(start - AROUND, 1)
    last = min(end + AROUND, len(lines)) if end else len(lines)
    last_printed = min(last, first + MOST - 1)
    width = max(len(str(last_printed)), 3)
    rows = []
    for number in range(first, last_printed + 1):
        mark = ">" if end and start <= number <= end else " "
        text = printable(lines[number - 1].rstrip("\n").expandtabs(len(TAB)))
        rows.append(f"{number:{width}} {mark} {text}".rstrip())
    if last > last_printed:
        rows.append(f"{'':{width}}   ... {last - last_printed:,} more lines")
    return rows
