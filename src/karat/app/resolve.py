"""Find the documents of a corpus that the references of a gold set mean."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from karat.corpus import Corpus, split_page
from karat.experiments.target_check import located_page
from karat.model import Dataset, Hit, Target
from karat.model.frozen import EMPTY
from karat.scoring.matching.modes import MATCHERS, is_suffix, normalise

__all__ = ["Reason", "ResolveResult", "UnresolvedReference", "resolve"]

Reason = Literal["not_found", "skipped", "ambiguous", "invalid_ref"]

# Modes whose targets are patterns: one may mean several files, and stays as it was written.
PATTERNS = frozenset({"substring", "akashic", "graded"})
GIT_HASH = re.compile(r"[0-9a-f]{40}")
CONTENT_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


class UnresolvedReference(NamedTuple):
    """A reference that means no document, or several: *candidates*.

    ``skipped`` means a file that exists in the corpus and cannot be read; it is the candidate, and
    *detail* says why.

    *doc_ref* is the kind of the reference and what it says, *doc_ref_hash* the SHA-256 of that.
    """

    query_id: str
    doc_ref: Mapping[str, str]
    doc_ref_hash: str
    reason: Reason
    candidates: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ResolveResult:
    """How many references mean a document, and those that do not.

    In *dataset* every reference that means a document is its path; the others are as they were, so
    that an evaluation counts them as missed.
    """

    mapped_count: int
    total_count: int
    unresolved: tuple[UnresolvedReference, ...]
    dataset: Dataset

    @property
    def status(self) -> Literal["resolved", "partial"]:
        """Return whether every reference means a document."""
        return "partial" if self.unresolved else "resolved"


def resolve(
    dataset: Dataset,
    corpus: Corpus,
    *,
    match: str | None = None,
    by_hand: Mapping[tuple[str, str], str] = EMPTY,
) -> ResolveResult:
    """Return *dataset* with its references found in *corpus*.

    A document id is a path as it is. A uri means the document whose path is the longest end of it.
    A content hash is that of Git or the SHA-256 of the text, and a file name is the last part of a
    path; both must be of one document alone. A path means itself, or the only one that it is the
    end of. *match* is the mode that hits will be matched by; where its targets are patterns, one
    that matches any document stays as it is. *by_hand* says what a reference means that is found in
    no other way: the path, by the id of the query and the hash of the reference.

    >>> from karat.corpus import from_texts
    >>> from karat.model import Query
    >>> corpus = from_texts({"docs/login.md": "", "docs/mail.md": ""})
    >>> queries = [Query("q1", "log in", (Target("file:///srv/docs/login.md", ref="uri"),))]
    >>> resolve(Dataset.of(queries), corpus).dataset.paths[0]
    'docs/login.md'
    """
    finder = _Finder(corpus, match or dataset.match)
    unresolved: list[UnresolvedReference] = []
    queries = []
    for query in dataset.queries():
        targets = []
        for target in query.targets:
            found = finder.find(target)
            if not isinstance(found, str):
                lost = _unresolved(query.id, target, found)
                found = by_hand.get((query.id, lost.doc_ref_hash), "")
                if not found:
                    unresolved.append(lost)
                    targets.append(target)
                    continue
            _, page = split_page(target.path)
            paged = target._replace(path=f"{found}#page={page}" if page else found, ref="path")
            targets.append(located_page(paged, corpus))
        queries.append(query._replace(targets=_once(targets)))
    total = dataset.offsets[-1]
    found_all = dataset.with_queries(queries)
    return ResolveResult(total - len(unresolved), total, tuple(unresolved), found_all)


class _UnresolvedTarget(NamedTuple):
    reason: Reason
    candidates: tuple[str, ...] = ()
    detail: str = ""


INVALID = _UnresolvedTarget("invalid_ref")


class _Finder:
    """Looks references up in one corpus; each returns a path, or why there is none."""

    def __init__(self, corpus: Corpus, match: str) -> None:
        self._corpus = corpus
        self._root = str(corpus.folder or "")
        self._matcher = MATCHERS.get(match)()
        self._patterns = match in PATTERNS
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_blob: dict[str, list[str]] = defaultdict(list)
        for document in corpus:
            self._by_name[_name(document.path)].append(document.path)
            self._by_blob[document.source or document.blob].append(document.path)
        self._kinds: Mapping[str, Callable[[str], str | _UnresolvedTarget]] = {
            "document_id": self._document,
            "uri": self._uri,
            "content_hash": self._hash,
            "path": self._path,
            "file_name": self._file_name,
        }

    def find(self, target: Target) -> str | _UnresolvedTarget:
        """Return the path that *target* means; a symbol without a path keeps none."""
        if not target.path.strip():
            return "" if target.symbol else INVALID
        path = target.path if target.path in self._corpus.by_path else split_page(target.path)[0]
        found = self._kinds[target.ref](path)
        lost = not isinstance(found, str) and found.reason == "not_found"
        return (self._skipped(path) or found) if lost else found

    def _skipped(self, name: str) -> _UnresolvedTarget | None:
        """Return the skipped file that *name* means, None without one or with several."""
        spelled = normalise(unquote(urlsplit(name).path) if "://" in name else name, self._root)
        files = self._corpus.skipped_files
        alike = [path for path in files if is_suffix(path, spelled) or is_suffix(spelled, path)]
        if len(alike) != 1:
            return None
        return _UnresolvedTarget("skipped", (alike[0],), files[alike[0]])

    @cached_property
    def _by_text(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for document, text in self._corpus.texts():
            found[sha256(text.encode()).hexdigest()].append(document.path)
        return found

    def _document(self, name: str) -> str | _UnresolvedTarget:
        return name if name in self._corpus.by_path else _UnresolvedTarget("not_found")

    def _uri(self, uri: str) -> str | _UnresolvedTarget:
        if uri in self._corpus.by_path:
            return uri
        try:
            path = normalise(unquote(urlsplit(uri).path), self._root)
        except ValueError:
            return INVALID
        if not path.strip("/"):
            return INVALID
        ends = [found for found in self._by_name.get(_name(path), ()) if is_suffix(found, path)]
        within = [found for found in ends if len(found) <= len(path.lstrip("/"))]
        return max(within, key=len) if within else _only(ends)

    def _hash(self, text: str) -> str | _UnresolvedTarget:
        wanted = text.strip().lower()
        if GIT_HASH.fullmatch(wanted):
            return _only(self._by_blob.get(wanted, ()))
        if whole := CONTENT_HASH.fullmatch(wanted):
            return _only(self._by_text.get(whole[1], ()))
        return INVALID

    def _path(self, path: str) -> str | _UnresolvedTarget:
        spelled = normalise(path, self._root)
        for name in (path, spelled):
            if name in self._corpus.by_path:
                return name
        if self._patterns:
            wanted = Target(spelled)
            matched = any(self._matcher.credit(Hit(each.path), wanted) for each in self._corpus)
            return path if matched else _UnresolvedTarget("not_found")
        alike = self._by_name.get(_name(spelled), ())
        return _only([found for found in alike if is_suffix(found, spelled)])

    def _file_name(self, name: str) -> str | _UnresolvedTarget:
        return INVALID if "/" in name else _only(self._by_name.get(name, ()))


def _only(found: Sequence[str]) -> str | _UnresolvedTarget:
    if len(found) == 1:
        return found[0]
    return _UnresolvedTarget("ambiguous", tuple(found)) if found else _UnresolvedTarget("not_found")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _unresolved(query_id: str, target: Target, lost: _UnresolvedTarget) -> UnresolvedReference:
    reference = {target.ref: target.path}
    text = json.dumps(reference, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return UnresolvedReference(query_id, reference, sha256(text.encode()).hexdigest(), *lost)


def _once(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return *targets* without those that mean a place named before; the highest grade stays."""
    best: dict[Target, Target] = {}
    for target in targets:
        place = target._replace(grade=0.0)
        if place not in best or target.grade > best[place].grade:
            best[place] = target
    return tuple(best.values())
