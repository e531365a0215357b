"""Ignore rules of a folder: ``.gitignore`` and ``.ignore``, nested, with negation.

Patterns are compiled by pathspec; which of them decides follows Git: the deepest file that has a
matching pattern, in it the last one, and nothing below an ignored folder comes back.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["IGNORE_FILES", "Rules", "is_ignored"]

# The later file wins, so that a project may show to search what it hides from Git.
IGNORE_FILES = (".gitignore", ".ignore")


class _Pattern(NamedTuple):
    regex: re.Pattern[str]
    ignores: bool


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
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        self._cut = len(base) + 1 if base else 0
        self._above = f"{above}/" if above else ""
        self._by_path: list[tuple[int, _Pattern]] = []
        self._by_name: list[tuple[int, _Pattern]] = []
        self._names: dict[tuple[str, bool], tuple[int, bool] | None] = {}
        for order, line in enumerate(lines):
            pattern = GitIgnoreSpecPattern(line)
            if pattern.include is None or pattern.regex is None:
                continue
            found = _Pattern(pattern.regex, pattern.include)
            # A slash that is not the last character ties the pattern to its folder; any other is
            # asked about the name alone, so its answer is remembered by name.
            tied = "/" in line.strip().removeprefix("!")[:-1]
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
    for order, (regex, ignores) in patterns:
        if _matches(regex, subject, folder):
            return order, ignores
    return None


def _matches(regex: re.Pattern[str], subject: str, folder: bool) -> bool:
    """Say whether *regex* means *subject* itself; one of the folders above it does not count.

    pathspec marks with the group ``ps_d`` that a match ended at a folder's slash.
    """
    found = regex.search(subject)
    if found and not ("ps_d" in regex.groupindex and found["ps_d"]):
        return True
    if not folder or "ps_d" not in regex.groupindex:
        return False
    found = regex.search(subject + "/")
    return bool(found and found["ps_d"] and found.end("ps_d") == len(subject) + 1)
