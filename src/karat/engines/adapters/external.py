"""The base class of adapters: a directory to search, and a check of every answer."""

import posixpath
import re
import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple, Self
from urllib.parse import unquote

from karat.corpus import Corpus, WorkFolder
from karat.engines.base import Engine
from karat.errors import EngineError, InputError, MissingExtra
from karat.model import Hit
from karat.scoring.matching.modes import normalise

# Dropped hits whose paths are kept, for each reason.
SHOWN_PATHS = 3
DRIVE = re.compile(r"[A-Za-z]:/")


class AcceptedHits(NamedTuple):
    """The valid hits, the number of dropped hits by reason, and of repaired hits by reason.

    *dropped* are the paths of the first dropped hits by reason, as the search returned them.
    """

    hits: tuple[Hit, ...]
    invalid: Mapping[str, int]
    mended: Mapping[str, int]
    dropped: Mapping[str, Sequence[str]] = {}


class CorpusPaths:
    r"""The paths and lines that exist in one corpus.

    >>> from karat.corpus import from_texts
    >>> paths = CorpusPaths(from_texts({"src/auth.py": "a\nb\n"}), root="/repo")
    >>> hits = [Hit("/repo/src/auth.py", 2.0, 1, 9), Hit("/etc/passwd", 1.0), Hit("no.py")]
    >>> accepted = paths.accept(hits, k=10)
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
        order of the answer counts.
        """
        invalid: Counter[str] = Counter()
        mended: Counter[str] = Counter()
        dropped: dict[str, list[str]] = {}
        accepted: dict[tuple[str, int, int, str], Hit] = {}

        def drop(hit: Hit, reason: str) -> None:
            invalid[reason] += 1
            paths = dropped.setdefault(reason, [])
            if len(paths) < SHOWN_PATHS and hit.path not in paths:
                paths.append(hit.path)

        for hit in hits:
            if len(accepted) == k:
                break
            path, reason = self.resolve(hit.path)
            if reason:
                drop(hit, reason)
                continue
            lines = self._checked(path, hit.start_line, hit.end_line, mended)
            if isinstance(lines, str):
                drop(hit, lines)
                continue
            key = (path, *lines, hit.symbol)
            if key in accepted:
                drop(hit, "duplicate")
                continue
            accepted[key] = hit._replace(path=path, start_line=lines[0], end_line=lines[1])
        return AcceptedHits(
            in_order_returned(tuple(accepted.values()), mended), invalid, mended, dropped
        )

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
        if known := self._known.get(path):
            return known, ""
        return "", "not searched" if path in self._corpus.hidden else "not in the corpus"

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


def in_order_returned(hits: tuple[Hit, ...], mended: Counter[str]) -> tuple[Hit, ...]:
    """Return *hits* with descending scores: their order is the ranking.

    If a score is missing, or higher than one before it, all hits get 1/rank; *mended* counts that.
    """
    scores = [hit.score for hit in hits]
    given = [score for score in scores if isfinite(score)]
    if len(given) == len(hits):
        if all(first >= second for first, second in pairwise(scores)):
            return hits
        mended["scores not descending"] += 1
    elif given:
        mended["score missing"] += len(hits) - len(given)
    return tuple(hit._replace(score=1.0 / rank) for rank, hit in enumerate(hits, 1))


# Both limits apply to a query of an experiment, the second one to every engine.
QUERY_LIMITS = "timeout_s in the engine's file, and --timeout of evaluate and compare"


def timed_out(what: str, timeout_s: float, *, limits: str = QUERY_LIMITS) -> EngineError:
    """Return the error of *what*, which took too long; its cause is a TimeoutError.

    >>> print(timed_out("mysearch: the index", 600, limits="index_timeout_s"))
    mysearch: the index took longer than 600 s and was stopped; raise index_timeout_s
    """
    error = EngineError(f"{what} took longer than {timeout_s:g} s and was stopped; raise {limits}")
    error.__cause__ = TimeoutError(f"{timeout_s:g} s")
    return error


class CorpusView:
    """A directory with the documents of a corpus.

    A corpus of a folder is that folder. Any other is a :class:`WorkFolder`, which follows from
    one snapshot to the next and which :meth:`close` removes.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._own: WorkFolder | None = None
        self.root = Path()
        self.show(corpus)

    @property
    def renamed(self) -> Mapping[str, str]:
        """Return the paths of documents that go by another name in the directory."""
        return self._own.renamed if self._own else {}

    def show(self, corpus: Corpus) -> None:
        """Fill the directory with the documents of *corpus*."""
        if corpus.folder is not None:
            self.close()
            self.root = corpus.folder
        elif self._own is None:
            self._own = WorkFolder(corpus)
            self.root = self._own.root
        else:
            self._own.show(corpus)

    def close(self) -> None:
        """Remove the directory if Karat created it; calling it twice is fine."""
        own, self._own = self._own, None
        if own:
            own.close()


class AnswerProblem(NamedTuple):
    """A reason why an answer has no hits, or hits without paths; *sure* if an option is wrong."""

    text: str
    sure: bool = True


class ExternalReply(NamedTuple):
    """The unchecked answer of a search, and its latency by phase in nanoseconds.

    *metadata* is anything else that it reported, such as tokens. *problem* is not an error: a
    search may have no results.
    """

    hits: Sequence[Hit]
    phases: Mapping[str, int] = {}
    metadata: Mapping[str, object] = {}
    problem: AnswerProblem | None = None


class External(Engine):
    """An engine that passes queries to an external search.

    A subclass defines how to start the search in a directory, how to run a query and how to stop.
    *invalid* counts the hits that were dropped, by reason, and *mended* those that were repaired,
    since the corpus was indexed; *dropped* has the first dropped paths by reason, and *problem* is
    the last one of an answer. An empty query or corpus returns no hits without a call.
    """

    thread_safe = True
    # Whether the search reads files, so that the corpus must be a directory.
    needs_directory = True
    strip_prefix = ""

    def __init__(self, name: str) -> None:
        self.name = name
        self.invalid: Counter[str] = Counter()
        self.mended: Counter[str] = Counter()
        self.dropped: dict[str, Sequence[str]] = {}
        self.problem: AnswerProblem | None = None
        self._view: CorpusView | None = None
        self._paths: CorpusPaths | None = None
        self._last = threading.local()
        self._lock = threading.Lock()

    def index(self, corpus: Corpus) -> None:
        """Start the search on *corpus*; one that runs already is stopped first."""
        self.close()
        self.invalid, self.mended, self.dropped = Counter(), Counter(), {}
        self.problem = None
        self._begin(corpus)

    def show(self, corpus: Corpus) -> None:
        """Restart the search on *corpus*; only changed files of its directory are written."""
        self._end()
        self._begin(corpus)

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the best *k* hits, each of which exists in the corpus."""
        return self._checked(query, k, self._ask)

    def phases_ns(self) -> Mapping[str, int]:
        """Return where the time of this thread's last search went."""
        return dict(getattr(self._last, "phases", {}))

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata of this thread's last search."""
        return dict(getattr(self._last, "metadata", {}))

    def close(self) -> None:
        """Stop the search and remove its directory; calling it twice is fine."""
        try:
            self._end()
        finally:
            view, self._view = self._view, None
            if view:
                view.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _checked(
        self, query: str, k: int, ask: Callable[[str, int], ExternalReply]
    ) -> Sequence[Hit]:
        """Return the hits of *ask* that exist in the corpus; the others are counted."""
        if type(k) is not int or k < 1:
            raise InputError(f"k is {k!r}; expected a whole number from 1 up")
        paths = self._paths
        if paths is None:
            raise EngineError(f"{self.name}: search was called before index")
        # Command lines and pipes cannot carry NUL or half a surrogate pair.
        query = query.replace("\0", " ").encode("utf-8", "replace").decode()
        self._last.phases, self._last.metadata = {}, {}
        if not query.strip() or not len(paths):
            return ()
        started = perf_counter_ns()
        reply = ask(query, k)
        answered = perf_counter_ns()
        accepted = paths.accept(reply.hits, k)
        phases = {"call": answered - started, "check": perf_counter_ns() - answered}
        self._last.phases = {**phases, **reply.phases}
        self._last.metadata = reply.metadata
        self.problem = reply.problem or self.problem
        if accepted.invalid or accepted.mended:
            with self._lock:
                self.invalid.update(accepted.invalid)
                self.mended.update(accepted.mended)
                self.dropped = {**accepted.dropped, **self.dropped}
        return accepted.hits

    def _begin(self, corpus: Corpus) -> None:
        try:
            if self.needs_directory:
                if self._view is None:
                    self._view = CorpusView(corpus)
                else:
                    self._view.show(corpus)
            root = str(self._view.root) if self._view else ""
            if len(corpus):
                self._start(corpus, root)
            self._paths = CorpusPaths(
                corpus,
                root=root,
                renamed=self._view.renamed if self._view else None,
                strip_prefix=self.strip_prefix,
            )
        except BaseException:
            self.close()
            raise

    def _end(self) -> None:
        self._paths = None
        self._stop()

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - for a subclass
        """Prepare the search for *corpus*, which is in the directory *root*."""
        return

    @abstractmethod
    def _ask(self, query: str, k: int) -> ExternalReply:
        """Return the answer to *query*, not yet checked; raise EngineError if there is none."""

    def _stop(self) -> None:
        """Release all resources; the search may not have been started."""
        return


def call_foreign(name: str, function: Callable[..., Any], *args: object) -> Any:
    """Call a foreign *function*; its exceptions become EngineError.

    >>> call_foreign("mine", int, "two")
    Traceback (most recent call last):
    ...
    karat.errors.EngineError: mine: ValueError: invalid literal for int() with base 10: 'two'
    """
    try:
        return function(*args)
    except (EngineError, MissingExtra):
        raise
    except Exception as error:
        raise EngineError(f"{name}: {type(error).__name__}: {error}") from error


def close(name: str, target: object) -> None:
    """Close *target* if it can be closed."""
    if callable(closing := getattr(target, "close", None)):
        call_foreign(name, closing)
