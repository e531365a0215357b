"""The base class of adapters: a directory to search, and a check of every answer."""

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple, Self

from karat.corpus import Corpus, WorkFolder
from karat.engines.adapters.paths import CorpusPaths
from karat.errors import EngineError, InputError, MissingExtra
from karat.model import Hit

__all__ = ["CorpusView", "External", "ExternalReply", "call_foreign", "close", "timed_out"]


def timed_out(what: str, timeout_s: float) -> EngineError:
    """Return the error of a search that took too long; its cause is a TimeoutError."""
    error = EngineError(f"{what} took longer than {timeout_s:g} s and was stopped")
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
        """Become the directory of *corpus*."""
        if corpus.folder is not None:
            self.close()
            self.root = corpus.folder
        elif self._own is None:
            self._own = WorkFolder(corpus)
            self.root = self._own.root
        else:
            self._own.show(corpus)

    def close(self) -> None:
        """Remove the directory if it is ours; calling it twice is fine."""
        own, self._own = self._own, None
        if own:
            own.close()


class ExternalReply(NamedTuple):
    """The unchecked answer of a search, and its latency by phase in nanoseconds.

    *metadata* is anything else that it reported, such as tokens.
    """

    hits: Sequence[Hit]
    phases: Mapping[str, int] = {}
    metadata: Mapping[str, object] = {}


class External(ABC):
    """An engine that passes queries to an external search.

    A subclass defines how to start the search in a directory, how to run a query and how to stop.
    *invalid* counts the hits that were dropped, by reason, and *mended* those that were repaired,
    since the corpus was indexed. An empty query or corpus returns no hits without a call.
    """

    thread_safe = True
    # Whether the search reads files, so that the corpus must be a directory.
    needs_directory = True
    strip_prefix = ""

    def __init__(self, name: str) -> None:
        self.name = name
        self.invalid: Counter[str] = Counter()
        self.mended: Counter[str] = Counter()
        self._view: CorpusView | None = None
        self._paths: CorpusPaths | None = None
        self._last = threading.local()
        self._lock = threading.Lock()

    def index(self, corpus: Corpus) -> None:
        """Start the search on *corpus*; one that runs already is stopped first."""
        self.close()
        self.invalid, self.mended = Counter(), Counter()
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
            raise EngineError(f"{self.name}: search before index")
        # No command line and no pipe carries NUL or half a character.
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
        if accepted.invalid or accepted.mended:
            with self._lock:
                self.invalid.update(accepted.invalid)
                self.mended.update(accepted.mended)
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
        """Make the search ready for *corpus*, which lies in the directory *root*."""
        return

    @abstractmethod
    def _ask(self, query: str, k: int) -> ExternalReply:
        """Return the answer to *query*, not yet checked; raise EngineError if there is none."""

    def _stop(self) -> None:
        """Release all resources; the search may not have been started."""
        return


def call_foreign(name: str, function: Callable[..., Any], *args: object) -> Any:
    """Call a foreign *function*; what it raises is an error of the engine, not of Karat.

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
