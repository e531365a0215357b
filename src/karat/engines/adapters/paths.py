"""Check the hits of an external search against the corpus: every accepted hit exists there."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import isfinite
from typing import NamedTuple
from urllib.parse import unquote

from karat.corpus import Corpus
from karat.model import Hit
from karat.scoring.matching.modes import normalise

__all__ = ["AcceptedHits", "CorpusPaths"]

DRIVE = re.compile(r"[A-Za-z]:/")


class AcceptedHits(NamedTuple):
    """The valid hits, the number of dropped hits by reason, and of repaired hits by reason."""

    hits: tuple[Hit, ...]
    invalid: Mapping[str, int]
    mended: Mapping[str, int]


class CorpusPaths:
    r"""The paths and lines that exist in one corpus.

    >>> from karat.corpus import from_texts
    >>> paths = CorpusPaths(from_texts({"src/auth.py": "a\nb\n"}), root="/repo")
    >>> found = [Hit("/repo/src/auth.py", 2.0, 1, 9), Hit("/etc/passwd", 1.0), Hit("no.py")]
    >>> accepted = paths.accept(found, k=10)
    >>> [(hit.path, hit.start_line, hit.end_line) for hit in accepted.hits]
    [('src/auth.py', 1, 2)]
    >>> dict(accepted.invalid), dict(accepted.mended)
    ({'outside the root': 1, 'not in the corpus': 1}, {'end past the last line': 1})
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        root: str = "",
        renamed: Mapping[str, str] | None = None,
        strip_prefix: str = "",
    ) -> None:
        self._corpus = corpus
        self._prefix = strip_prefix
        self._root = root
        self._known = {normalise(document.path): document.path for document in corpus}
        self._known.update(renamed or {})
        self._lines: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._corpus)

    def accept(self, hits: Iterable[Hit], k: int) -> AcceptedHits:
        """Return the first *k* of *hits* that exist, each location once, with descending scores.

        A score that is missing, or higher than one before it, gives all hits 1/rank instead: the
        order of a search is its answer.
        """
        invalid: Counter[str] = Counter()
        mended: Counter[str] = Counter()
        kept: dict[tuple[str, int, int, str], Hit] = {}
        for hit in hits:
            if len(kept) == k:
                break
            path, reason = self.resolve(hit.path)
            if reason:
                invalid[reason] += 1
                continue
            lines = self._checked(path, hit.start_line, hit.end_line, mended)
            if isinstance(lines, str):
                invalid[lines] += 1
                continue
            key = (path, *lines, hit.symbol)
            if key in kept:
                invalid["duplicate"] += 1
                continue
            kept[key] = hit._replace(path=path, start_line=lines[0], end_line=lines[1])
        return AcceptedHits(_scored(tuple(kept.values()), mended), invalid, mended)

    def resolve(self, path: str) -> tuple[str, str]:
        """Return the document that *path* means and "", or "" and why there is none."""
        if path in self._corpus.by_path:
            return path, ""
        if path.startswith("file://"):
            path = unquote(path.removeprefix("file://"))
        if self._prefix:
            path = path.removeprefix(self._prefix).lstrip("/")
        path = posixpath.normpath(normalise(path)) if path else path
        path = normalise(path, self._root)
        if path.startswith(("/", "../")) or path == ".." or DRIVE.match(path):
            return "", "outside the root"
        known = self._known.get(path, "")
        return known, "" if known else "not in the corpus"

    def _checked(
        self, path: str, start: int, end: int, mended: Counter[str]
    ) -> tuple[int, int] | str:
        """Return the range, within the file, or what is wrong with it."""
        if start == end == 0:
            return 0, 0
        end = end or start
        if start < 1:
            return "line below 1"
        if end < start:
            return "end before start"
        last = self._line_count(path)
        if start > last:
            return "past the last line"
        if end > last:
            mended["end past the last line"] += 1
        return start, min(end, last)

    def _line_count(self, path: str) -> int:
        if path not in self._lines:
            text = self._corpus.read(path)
            self._lines[path] = text.count("\n") + (not text.endswith("\n") and bool(text))
        return self._lines[path]


def _scored(hits: tuple[Hit, ...], mended: Counter[str]) -> tuple[Hit, ...]:
    scores = [hit.score for hit in hits]
    given = [score for score in scores if isfinite(score)]
    if len(given) == len(hits):
        if all(first >= second for first, second in pairwise(scores)):
            return hits
        mended["scores not descending"] += 1
    elif given:
        mended["score missing"] += len(hits) - len(given)
    return tuple(hit._replace(score=1.0 / rank) for rank, hit in enumerate(hits, 1))
