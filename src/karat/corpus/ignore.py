"""Ignore rules of a folder: ``.gitignore`` and ``.ignore``, nested, with negation.

Patterns are compiled by pathspec; which of them decides follows Git: the deepest file that has a
matching pattern, in it the last one, and nothing below an ignored folder comes back.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

__all__ = ["IGNORE_FILES", "Rules", "is_ignored"]

# The later file wins, so that a project may show to search what it hides from Git.
IGNORE_FILES = (".gitignore", ".ignore")


class _Pattern(NamedTuple):
    regex: re.Pattern[str]
    ignores: bool
    folders_only: bool


class Rules:
    """The patterns of one folder's ignore files, *base* being that folder ("" for the root).

    *above* is the way from a folder above the root down to the root, for the files found there.

    >>> rules = Rules("", ["*.log", "!keep.log", "build/"])
    >>> rules.verdict("a.log", folder=False), rules.verdict("src/keep.log", folder=False)
    (True, False)
    >>> rules.verdict("build", folder=True), rules.verdict("build", folder=False)
    (True, None)
    """

    def __init__(self, base: str, lines: Iterable[str], *, above: str = "") -> None:
        """Compile *lines*; comments, blank lines and patterns without meaning are left out."""
        self._cut = len(base) + 1 if base else 0
        self._above = f"{above}/" if above else ""
        self._by_path: list[tuple[int, _Pattern]] = []
        self._by_name: list[tuple[int, _Pattern]] = []
        self._names: dict[tuple[str, bool], tuple[int, bool] | None] = {}
        for order, line in enumerate(lines):
            # Asked for here, because pathspec takes "a/**/" for "a/".
            folders_only = line.rstrip().endswith("/")
            text = line.rstrip()[:-1] if folders_only else line
            pattern = _compiled(text)
            if pattern is None or pattern.include is None or pattern.regex is None:
                continue
            found = _Pattern(pattern.regex, pattern.include, folders_only)
            # A slash before its end ties a pattern to its folder; any other is asked about the
            # name alone, so its answer is remembered by name.
            tied = "/" in text
            (self._by_path if tied else self._by_name).append((order, found))
        self._by_path.reverse()
        self._by_name.reverse()

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether *path* is ignored, or None where no pattern speaks of it."""
        name = path[path.rfind("/") + 1 :]
        key = (name, folder)
        if key in self._names:
            best = self._names[key]
        else:
            best = self._names[key] = _last(self._by_name, name, folder)
        if self._by_path:
            other = _last(self._by_path, self._above + path[self._cut :], folder)
            if other and (best is None or other[0] > best[0]):
                best = other
        return best[1] if best else None


def is_ignored(path: str, *, folder: bool, rules: Sequence[Rules]) -> bool:
    """Say whether *path* is ignored by *rules*, which go from the root to its own folder."""
    for level in reversed(rules):
        verdict = level.verdict(path, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _last(
    patterns: Sequence[tuple[int, _Pattern]], subject: str, folder: bool
) -> tuple[int, bool] | None:
    for order, (regex, ignores, folders_only) in patterns:
        if (folder or not folders_only) and _matches(regex, subject):
            return order, ignores
    return None


def _matches(regex: re.Pattern[str], subject: str) -> bool:
    """Say whether *regex* means *subject* itself; one of the folders above it does not count.

    pathspec marks with the group ``ps_d`` that a match ended at a folder's slash.
    """
    found = regex.search(subject)
    return found is not None and not ("ps_d" in regex.groupindex and found["ps_d"])


def _compiled(line: str) -> "GitIgnoreSpecPattern | None":
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        return GitIgnoreSpecPattern(line)
    except GitIgnorePatternError:
        # Git passes over a pattern that can match nothing, such as a lone "!".
        return None
