"""A class that speaks Karat's own protocol, its errors and its hits checked like any other's."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from karat.corpus import Corpus
from karat.engines.adapters.external import External, Reply
from karat.engines.adapters.guarded import close, guarded
from karat.engines.adapters.places import Places
from karat.engines.base import (
    Explained,
    SupportsMetadata,
    SupportsPhases,
    SupportsSnapshots,
)
from karat.errors import EngineError
from karat.model import Hit

__all__ = ["NativeEngine"]

# What an engine may do beside its search, handed on as it is; see karat.engines.base.
FURTHER = ("expect", "index_bytes", "reset", "watch", "work")


class NativeEngine(External):
    """An engine of someone else, ``index(corpus)`` and ``search(query, k)``, as *engine*.

    It can do what that one can: explain its hits, move between snapshots, forget, tell its size.
    """

    needs_directory = False

    def __init__(self, engine: Any, name: str) -> None:
        """Wrap *engine*, which is called *name* unless it has a name of its own."""
        own = getattr(engine, "name", None)
        super().__init__(own if isinstance(own, str) else name)
        self.engine = engine
        self.thread_safe = bool(getattr(engine, "thread_safe", False))
        for method in FURTHER:
            if callable(function := getattr(engine, method, None)):
                setattr(self, method, partial(guarded, self.name, function))
        if callable(getattr(engine, "explain", None)):
            self.explain: Callable[[str, int], Sequence[Explained]] = self._explained

    def index(self, corpus: Corpus) -> None:
        """Let the engine index *corpus*; what it had before it replaces itself."""
        self.invalid, self.mended = Counter(), Counter()
        self._call(self.engine.index, corpus)

    def show(self, corpus: Corpus) -> None:
        """Move to *corpus*; an engine that does not move indexes it."""
        moves = isinstance(self.engine, SupportsSnapshots)
        self._call(self.engine.show if moves else self.engine.index, corpus)

    def close(self) -> None:
        """Close the engine if it can be closed; calling it twice is fine if it is there."""
        self._places = None
        close(self.name, self.engine)

    def _call(self, prepare: Callable[[Corpus], None], corpus: Corpus) -> None:
        self._places = None
        guarded(self.name, prepare, corpus)
        root = "" if corpus.folder is None else str(corpus.folder)
        self._places = Places(corpus, root=root)

    def _ask(self, query: str, k: int) -> Reply:
        found = guarded(self.name, self.engine.search, query, k)
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise EngineError(
                f"{self.name}: search returned {type(found).__name__}; expected a list of hits"
            )
        return self._reply([self._hit(entry) for entry in guarded(self.name, list, found)])

    def _explained(self, query: str, k: int) -> Sequence[Explained]:
        """Return the hits of :meth:`search` with the scores that the engine's stages gave."""
        known: dict[tuple[str, int, str], Explained] = {}

        def ask(query: str, k: int) -> Reply:
            found = guarded(self.name, lambda: list(self.engine.explain(query, k)))
            hits = [self._hit(getattr(entry, "hit", entry)) for entry in found]
            for hit, entry in zip(reversed(hits), reversed(found), strict=True):
                known[self._place(hit)] = entry
            return self._reply(hits)

        hits = self._checked(query, k, ask)
        return [known[self._place(hit)]._replace(hit=hit) for hit in hits]

    def _place(self, hit: Hit) -> tuple[str, int, str]:
        """Return what a hit keeps when it is checked."""
        path = self._places.resolve(hit.path)[0] if self._places else hit.path
        return path, hit.start_line, hit.symbol

    def _reply(self, hits: Sequence[Hit]) -> Reply:
        phases = self.engine.phases_ns if isinstance(self.engine, SupportsPhases) else dict
        metadata = self.engine.metadata if isinstance(self.engine, SupportsMetadata) else dict
        return Reply(hits, guarded(self.name, phases), guarded(self.name, metadata))

    def _hit(self, entry: object) -> Hit:
        """Return *entry*, a hit with values that can be compared, or raise EngineError."""
        if not isinstance(entry, Hit):
            raise EngineError(
                f"{self.name}: search returned {type(entry).__name__} among its hits; "
                "expected karat.model.Hit"
            )
        try:
            path, score, start, end, symbol, tokens = entry
            return Hit(str(path), float(score), int(start), int(end), str(symbol), int(tokens))
        except (TypeError, ValueError) as error:
            raise EngineError(f"{self.name}: {entry!r} is no hit: {error}") from error
