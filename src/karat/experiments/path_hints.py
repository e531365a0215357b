"""Hints on targets that are not in the corpus: the option that works, and similar names."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from shlex import quote

from karat.scoring.matching.modes import is_suffix, normalise

__all__ = ["SEPARATE", "PathHints"]

# Similar names are searched among so many paths, and for so many missing ones: it is slow.
MOST_KNOWN, MOST_ASKED = 10_000, 50
# The least similarity of a name, from 0 to 1.
SIMILAR = 0.8
FILE = re.compile(r".+\.[A-Za-z]\w{0,7}")
SEPARATE = "separate documents with | or ;"


class PathHints:
    """Hints on paths that are not among the *known* ones.

    >>> hints = PathHints(["warranty.md", "app.md", "errors.md", "grinder.md"])
    >>> [hints.suggestion(path) for path in ("waranty.md", "App.md", "errors", "other.md")]
    ['did you mean warranty.md?', 'did you mean app.md?', 'did you mean errors.md?', '']
    >>> hints.suggestion("errors.md,grinder.md")
    'separate documents with | or ;'
    >>> hints.option(["docs/app.md", "docs/errors.md", "x.md"])
    '2 of them exist without docs/: add --root docs'
    """

    def __init__(self, known: Collection[str]) -> None:
        """Take the paths of a corpus."""
        self._known = frozenset(known)
        self._asked = 0

    def option(
        self, missing: Sequence[str], *, present: Collection[str] = (), suffix: bool = True
    ) -> str:
        """Return the option with which most of the *missing* paths exist, "" without one.

        It was tried on them and on the *present* paths, which must not become missing. *suffix*
        says whether the targets are whole files, so that ``--match suffix`` loses no lines.
        """
        wanted = dict.fromkeys(normalise(path) for path in missing)
        roots = Counter(root for path in wanted for root in self._roots(path))
        root, count = max(roots.items(), key=lambda pair: pair[1], default=("", 0))
        if any(normalise(path, root) not in self._known for path in present if root):
            count = 0
        ends = sum(bool(self._ending(path)) for path in wanted)
        if count and count >= ends:
            return f"{self._count(count, wanted)} without {root}/: add --root {quote(root)}"
        if present:
            found = f"{self._count(ends, wanted)} in another folder: add --match suffix"
            return found if ends and suffix else ""
        folders = Counter(folder for path in wanted for folder in self._above(path))
        for folder, below in folders.most_common(1):
            return f"{below} of them are below {folder}/: search that folder, or add --match suffix"
        return ""

    def is_elsewhere(self, path: str) -> bool:
        """Return whether *path* is the end of a known path, or a known path its end."""
        return bool(self._ending(normalise(path)))

    def suggestion(self, path: str) -> str:
        """Return the document that *path* probably means, in words, "" without one."""
        parts = [part.strip() for part in path.split(",")]
        if len(parts) > 1 and all(part in self._known or FILE.fullmatch(part) for part in parts):
            return SEPARATE
        near = self._near(normalise(path))
        return f"did you mean {near}?" if near else ""

    def _count(self, count: int, wanted: Collection[str]) -> str:
        if count == len(wanted) == 1:
            return "it exists"
        if count == 1 < len(wanted):
            return "1 of them exists"
        return f"{'all' if count == len(wanted) else count} of them exist"

    def _roots(self, path: str) -> Iterable[str]:
        """Yield the folders without which *path* is known."""
        parts = path.split("/")
        for length in range(1, len(parts)):
            root = "/".join(parts[:length])
            if root and "/".join(parts[length:]) in self._known:
                yield root

    def _above(self, path: str) -> Iterable[str]:
        """Yield the folders below which *path* is known."""
        for known in self._ending(path):
            if known.endswith(f"/{path}"):
                yield known.removesuffix(f"/{path}")

    def _ending(self, path: str) -> list[str]:
        named = self._by_name.get(_name(path).lower(), ())
        return [known for known in named if path and is_suffix(known, path)]

    def _near(self, path: str) -> str:
        lower = path.lower()
        named = self._by_name.get(_name(lower), ())
        for alike in (
            [known for known in named if known.lower() == lower],
            [known for known in self._by_stem.get(_name(lower), ()) if _stem(known) == lower],
            named,
        ):
            if len(alike) == 1:
                return alike[0]
        self._asked += 1
        if len(self._known) > MOST_KNOWN or self._asked > MOST_ASKED:
            return ""
        return next(iter(get_close_matches(path, self._sorted, n=1, cutoff=SIMILAR)), "")

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._known)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._sorted:
            found[_name(path).lower()].append(path)
        return found

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._sorted:
            found[_name(_stem(path))].append(path)
        return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    """Return *path* in lower case without the ending of its file.

    >>> _stem("docs/App.md"), _stem("v1.2/app")
    ('docs/app', 'v1.2/app')
    """
    folder, slash, name = path.lower().rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"
