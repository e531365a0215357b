"""Find the documents of a corpus that the references and quotes of a gold set mean."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from textwrap import shorten
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from karat.corpus import Corpus, split_page
from karat.experiments.target_check import PathHints, Where, located_page
from karat.model import Dataset, Hit, Query, Target
from karat.model.frozen import EMPTY
from karat.scoring.matching.judge import ALTERNATIVES
from karat.scoring.matching.modes import MATCHERS, is_suffix, normalise
from karat.system.words import counted

# Maximum number of passages of a quote that become targets.
MOST_PASSAGES = 20
Reason = Literal["not_found", "skipped", "ambiguous", "invalid_ref"]

# Modes whose targets are patterns: one may mean several files, and stays as it was written.
PATTERNS = frozenset({"substring", "akashic", "graded"})
# Characters of a reference that a note shows.
SHOWN = 60
GIT_HASH = re.compile(r"[0-9a-f]{40}")
CONTENT_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


class Quote(NamedTuple):
    """A quoted text, and the path of its document; "" if it may be in any."""

    text: str
    path: str = ""


class Passage(NamedTuple):
    """Lines of a document, from 1, both ends inclusive."""

    path: str
    start_line: int
    end_line: int


def locate_quotes(corpus: Corpus, quotes: Iterable[Quote]) -> dict[Quote, list[Passage]]:
    r"""Return the passages of each of *quotes*, in the order of the corpus; at most MOST_PASSAGES.

    A quote is found where its text stands exactly; only if that is nowhere, where it stands with
    other white space, such as other line ends.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.md": "one\ntwo three\nfour", "b.md": "two three"})
    >>> both, one = Quote("two three"), Quote("three four")
    >>> passages = locate_quotes(corpus, [both, one])
    >>> [passage.path for passage in passages[both]], passages[one]
    (['a.md', 'b.md'], [Passage(path='a.md', start_line=2, end_line=3)])
    """
    passages: dict[Quote, list[Passage]] = {quote: [] for quote in quotes}
    exact = {quote: quote.text.strip() for quote in passages}
    _look(corpus, passages, {quote: text for quote, text in exact.items() if text})
    pending = [quote for quote, located in passages.items() if not located]
    words = {quote: " ".join(quote.text.split()) for quote in pending}
    _look(corpus, passages, {quote: text for quote, text in words.items() if text}, folded=True)
    return passages


def _look(
    corpus: Corpus,
    passages: Mapping[Quote, list[Passage]],
    quote_texts: Mapping[Quote, str],
    *,
    folded: bool = False,
) -> None:
    """Add where *quote_texts* stand to *passages*; *folded* texts have single blanks."""
    if not quote_texts:
        return
    patterns: dict[Quote, re.Pattern[str]] = {}
    for document, text in corpus.texts():
        content = " ".join(text.split()) if folded else text
        for quote, words in quote_texts.items():
            if quote.path not in ("", document.path) or words not in content:
                continue
            if quote not in patterns:
                pieces = words.split(" ") if folded else [words]
                patterns[quote] = re.compile(r"\s+".join(map(re.escape, pieces)))
            for match in patterns[quote].finditer(text):
                if len(passages[quote]) < MOST_PASSAGES:
                    first = text.count("\n", 0, match.start()) + 1
                    last = first + text.count("\n", match.start(), match.end())
                    passages[quote].append(Passage(document.path, first, last))


class UnresolvedReference(NamedTuple):
    """A reference that means no document, or several: *candidates*.

    ``skipped`` means a file that exists in the corpus and cannot be read; it is the candidate, and
    *detail* says why. The *detail* of a path that was not found is a document with a similar name.

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
    """How many references have a document, and those that do not.

    In *dataset* every resolved reference is a path, and a quote is the lines of a path; the others
    are as they were, so that an evaluation counts them as missed. *ambiguous* are quotes that were
    found in several places: the first is the target, and a hit on any other one counts as a hit on
    it. *whole* are quotes that are not in their own document: all of it is the target.
    """

    mapped_count: int
    total_count: int
    unresolved: tuple[UnresolvedReference, ...]
    dataset: Dataset
    ambiguous: tuple[UnresolvedReference, ...] = ()
    whole: tuple[UnresolvedReference, ...] = ()

    @property
    def status(self) -> Literal["resolved", "partial"]:
        """Return whether every reference has a document."""
        return "partial" if self.unresolved else "resolved"

    def notes(self) -> list[str]:
        """Return one sentence per kind of reference that needs attention, with an example."""
        sentences = []
        for reason, text in (
            ("not_found", "not found in the corpus, counted as missed"),
            ("skipped", "skipped files of the corpus, counted as missed"),
            ("invalid_ref", "not a valid reference, counted as missed"),
            ("ambiguous", "several documents fit, counted as missed"),
        ):
            lost = [each for each in self.unresolved if each.reason == reason]
            if lost:
                sentences.append(_sentence(lost, self.total_count, text))
        if self.ambiguous:
            text = "found in several places; a hit on any of them counts"
            sentences.append(_sentence(self.ambiguous, self.total_count, text))
        if self.whole:
            text = "not in its document, which is the target as a whole"
            sentences.append(_sentence(self.whole, self.total_count, text))
        return sentences


def _sentence(lost: Sequence[UnresolvedReference], total: int, text: str) -> str:
    first = lost[0]
    ((kind, name),) = first.doc_ref.items()
    candidates = f": {', '.join(first.candidates[:3])}" if first.candidates else ""
    shortened = shorten(name, SHOWN, placeholder=" ...")
    count = f"{len(lost):,} of {counted(total, 'reference')}"
    return f"{count}: {text}; query {first.query_id!r}: {kind} {shortened!r}{candidates}"


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
    end of. A quote means the lines where its text stands, exactly or with other white space; a
    quote that its own document lacks means that whole document. *match* is the mode that hits will
    be matched by; where its targets are patterns, one that matches any document stays as it is.
    *by_hand* has the paths of references that cannot be found otherwise, by the id of the query and
    the hash of the reference.

    >>> from karat.corpus import from_texts
    >>> from karat.model import Query
    >>> corpus = from_texts({"docs/login.md": "", "docs/mail.md": ""})
    >>> queries = [Query("q1", "log in", (Target("file:///srv/docs/login.md", ref="uri"),))]
    >>> resolve(Dataset.of(queries), corpus).dataset.paths[0]
    'docs/login.md'
    """
    finder = _Finder(corpus, match or dataset.match)
    finder.read_quotes(dataset)
    unresolved: list[UnresolvedReference] = []
    ambiguous: list[UnresolvedReference] = []
    whole: list[UnresolvedReference] = []
    queries = []
    for query in dataset.queries():
        targets = []
        alternatives = []
        for target in query.targets:
            resolved = finder.find(target)
            if isinstance(resolved, _UnresolvedTarget):
                lost = _unresolved(query.id, target, resolved)
                path = by_hand.get((query.id, lost.doc_ref_hash), "")
                if not path:
                    unresolved.append(lost)
                    targets.append(_missed(target))
                    continue
                resolved = _placed(target, path)
            elif others := finder.other_passages(target):
                starts = tuple(f"{passage.path}:{passage.start_line}" for passage in others)
                named = f"{resolved.path}:{resolved.start_line}"
                both = _UnresolvedTarget("ambiguous", (named, *starts))
                ambiguous.append(_unresolved(query.id, target, both))
                alternatives += [_alternative(resolved, passage) for passage in others]
            elif target.ref == "quote" and not resolved.end_line:
                inside = _UnresolvedTarget("not_found", (resolved.path,))
                whole.append(_unresolved(query.id, target, inside))
            targets.append(resolved)
        extra = {**query.extra, ALTERNATIVES: alternatives} if alternatives else query.extra
        queries.append(query._replace(targets=_once(targets), extra=extra))
    total = dataset.offsets[-1]
    resolved_set = replace(dataset.with_queries(queries), tags=dataset.tags)
    return ResolveResult(
        total - len(unresolved),
        total,
        tuple(unresolved),
        resolved_set,
        tuple(ambiguous),
        tuple(whole),
    )


def resolve_for(
    dataset: Dataset, where: Where, *, match: str | None = None
) -> ResolveResult | None:
    """Return *dataset* with the references of each query found in the snapshot of its search.

    None if all references are paths already, so that nothing needs to be looked up.
    """
    if not set(dataset.refs.names) - {"path"}:
        return None
    rows: dict[int, Query] = {}
    parts: list[ResolveResult] = []
    queries = list(dataset.queries())
    with where.snapshots(dataset, seed=0) as snapshots:
        for corpus, searches, _ in snapshots:
            order = sorted(searches.rows)
            part = dataset.with_queries(queries[row] for row in order)
            parts.append(resolve(part, corpus, match=match))
            rows.update(zip(order, parts[-1].dataset.queries(), strict=True))
    done = dataset.with_queries(rows[row] for row in range(len(dataset)))
    return ResolveResult(
        sum(part.mapped_count for part in parts),
        sum(part.total_count for part in parts),
        tuple(lost for part in parts for lost in part.unresolved),
        replace(done, tags=dataset.tags),
        tuple(lost for part in parts for lost in part.ambiguous),
        tuple(lost for part in parts for lost in part.whole),
    )


def _alternative(target: Target, passage: Passage) -> dict[str, object]:
    return {
        **passage._asdict(),
        "target": {
            "path": target.path,
            "start_line": target.start_line,
            "end_line": target.end_line,
        },
    }


def _missed(target: Target) -> Target:
    """Return an unresolved target in a form that no hit can match."""
    if target.ref != "quote":
        return target
    return Target(_reference(target), target.grade, ref="quote")


def _reference(target: Target) -> str:
    """Return the text of a reference; that of a quote on one line."""
    return " ".join(target.symbol.split()) if target.ref == "quote" else target.path


def _placed(target: Target, path: str) -> Target:
    """Return *target* in the document *path*; a quote becomes the whole document."""
    symbol = "" if target.ref == "quote" else target.symbol
    return target._replace(path=path, ref="path", symbol=symbol)


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
        self._quotes: Mapping[Quote, Sequence[Passage]] = {}
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

    def find(self, target: Target) -> Target | _UnresolvedTarget:
        """Return *target* at its path; a symbol without a path keeps none."""
        if target.ref == "quote":
            return self._quote(target)
        if not target.path.strip():
            return target._replace(ref="path") if target.symbol else INVALID
        path = target.path if target.path in self._corpus.by_path else split_page(target.path)[0]
        resolved = self._kinds[target.ref](path)
        if not isinstance(resolved, str):
            if resolved.reason != "not_found":
                return resolved
            return self._skipped(path) or resolved._replace(detail=self._suggestion(target))
        _, page = split_page(target.path)
        placed = _placed(target, f"{resolved}#page={page}" if page else resolved)
        located = located_page(placed, self._corpus)
        if page and located == placed and placed.path not in self._corpus.by_path:
            return _UnresolvedTarget("not_found", (), f"{resolved} has no page {page}")
        return located

    def _skipped(self, name: str) -> _UnresolvedTarget | None:
        """Return the skipped file that *name* means, None without one or with several."""
        spelled = normalise(unquote(urlsplit(name).path) if "://" in name else name, self._root)
        files = self._corpus.skipped_files
        alike = [path for path in files if is_suffix(path, spelled) or is_suffix(spelled, path)]
        if len(alike) != 1:
            return None
        return _UnresolvedTarget("skipped", (alike[0],), files[alike[0]])

    def _suggestion(self, target: Target) -> str:
        named = target.ref in ("path", "file_name", "document_id") and not self._patterns
        return self._hints.suggestion(target.path) if named else ""

    @cached_property
    def _hints(self) -> PathHints:
        return PathHints(self._corpus.by_path.keys())

    def read_quotes(self, dataset: Dataset) -> None:
        """Look all quotes of *dataset* up at once: the corpus is read once or twice."""
        quoted = {
            self._as_quote(target)
            for row in range(len(dataset))
            for target in dataset.targets(row)
            if target.ref == "quote"
        }
        if quoted:
            self._quotes = locate_quotes(self._corpus, sorted(quoted))

    def other_passages(self, target: Target) -> Sequence[Passage]:
        """Return the passages of a quote after the first."""
        return self._quotes[self._as_quote(target)][1:] if target.ref == "quote" else ()

    def _as_quote(self, target: Target) -> Quote:
        path = self._uri(target.path) if target.path.strip() else ""
        return Quote(target.symbol, path if isinstance(path, str) else "")

    def _quote(self, target: Target) -> Target | _UnresolvedTarget:
        quote = self._as_quote(target)
        if passages := self._quotes[quote]:
            first = passages[0]
            return Target(first.path, target.grade, first.start_line, first.end_line)
        if quote.path:
            return Target(quote.path, target.grade)
        return _UnresolvedTarget("not_found")

    @cached_property
    def _by_text(self) -> Mapping[str, Sequence[str]]:
        paths: dict[str, list[str]] = defaultdict(list)
        for document, text in self._corpus.texts():
            paths[sha256(text.encode()).hexdigest()].append(document.path)
        return paths

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
        ends = [end for end in self._by_name.get(_name(path), ()) if is_suffix(end, path)]
        within = [end for end in ends if len(end) <= len(path.lstrip("/"))]
        return max(within, key=len) if within else _only(ends)

    def _hash(self, text: str) -> str | _UnresolvedTarget:
        digest = text.strip().lower()
        if GIT_HASH.fullmatch(digest):
            return _only(self._by_blob.get(digest, ()))
        if whole := CONTENT_HASH.fullmatch(digest):
            return _only(self._by_text.get(whole[1], ()))
        return INVALID

    def _path(self, path: str) -> str | _UnresolvedTarget:
        spelled = normalise(path, self._root)
        for name in (path, spelled):
            if name in self._corpus.by_path:
                return name
        if self._patterns:
            target = Target(spelled)
            matched = any(self._matcher.credit(Hit(each.path), target) for each in self._corpus)
            return path if matched else _UnresolvedTarget("not_found")
        alike = self._by_name.get(_name(spelled), ())
        return _only([candidate for candidate in alike if is_suffix(candidate, spelled)])

    def _file_name(self, name: str) -> str | _UnresolvedTarget:
        return INVALID if "/" in name else _only(self._by_name.get(name, ()))


def _only(paths: Sequence[str]) -> str | _UnresolvedTarget:
    if len(paths) == 1:
        return paths[0]
    return _UnresolvedTarget("ambiguous", tuple(paths)) if paths else _UnresolvedTarget("not_found")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _unresolved(query_id: str, target: Target, lost: _UnresolvedTarget) -> UnresolvedReference:
    reference = {target.ref: _reference(target)}
    text = json.dumps(reference, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return UnresolvedReference(query_id, reference, sha256(text.encode()).hexdigest(), *lost)


def _once(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return *targets* without later ones of equal meaning; the highest grade stays."""
    best: dict[Target, Target] = {}
    for target in targets:
        ungraded = target._replace(grade=0.0)
        if ungraded not in best or target.grade > best[ungraded].grade:
            best[ungraded] = target
    return tuple(best.values())
