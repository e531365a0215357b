"""The base class of rerankers, which score a few texts for a query."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.engine_group import NOT_KEPT, Current
from karat.registry import Registry, call_if_there, check_has


class Reranker(ABC):
    """Scores texts for a query; higher is better, on any scale.

    The contract: one finite score per text, in order, which depends on the query and that text
    only. Any text is accepted; one that is too long is truncated. It is thread-safe. *weight* is
    the default share of these scores in the final order; the first search has the rest. All other
    methods have a default, which does or reports nothing.
    """

    name: str
    weight: float
    # Values of the current query that other engines computed; a group replaces it. A reranker that
    # prefetches for itself alone needs one of its own.
    current: Current = NOT_KEPT

    @abstractmethod
    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return one score per text."""

    def expect(self, queries: Sequence[str]) -> None:  # noqa: ARG002 - for a subclass
        """Prefetch work for *queries*; see :meth:`karat.engines.Engine.expect`."""
        return

    def apart(self) -> "Reranker":
        """Return a view of this reranker that reuses only what it has computed itself."""
        return self

    def from_cache(self) -> bool:
        """Return whether all scores of this thread's last call came from a cache on disk."""
        return False

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of this thread's last call, if there were any."""
        return {}

    def close(self) -> None:
        """Release connections; calling it twice is allowed."""
        return


class ForeignReranker(Reranker):
    """A reranker of someone else: a method that it lacks has the default."""

    def __init__(self, reranker: Any) -> None:
        """Wrap *reranker*; InputError names what every reranker must have."""
        check_has(reranker, ("name", "weight", "scores"), kind="reranker")
        self.name: str = reranker.name
        self.weight: float = reranker.weight
        self._reranker = reranker

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return the reranker's score of each text."""
        scores: NDArray[np.floating] = self._reranker.scores(query, texts)
        return scores

    def expect(self, queries: Sequence[str]) -> None:
        """Let the reranker prefetch work for *queries*."""
        call_if_there(self._reranker, "expect", queries)

    def apart(self) -> Reranker:
        """Return a view of the reranker that reuses only what it has computed itself."""
        apart = call_if_there(self._reranker, "apart")
        return self if apart is None else as_reranker(apart)

    def from_cache(self) -> bool:
        """Return whether all scores of the last call came from the reranker's cache."""
        return bool(call_if_there(self._reranker, "from_cache"))

    def metadata(self) -> Mapping[str, object]:
        """Return what the reranker reports about its last call."""
        return call_if_there(self._reranker, "metadata") or {}

    def close(self) -> None:
        """Close the reranker if it can be closed."""
        call_if_there(self._reranker, "close")


def as_reranker(target: object) -> Reranker:
    """Return *target*, of whatever class, as a reranker with all methods."""
    return target if isinstance(target, Reranker) else ForeignReranker(target)


DEFAULT_RERANKER = "maxsim"

RERANKERS: Registry[Callable[[str], Reranker]] = Registry("reranker", {})


def create_reranker(spec: str = DEFAULT_RERANKER) -> Reranker:
    """Return the reranker that *spec* describes: a name, and an argument after a colon.

    ``maxsim`` and ``maxsim:<embedder>``, ``colbert:<hub id or folder>``,
    ``cross:<hub id or folder>``, ``onnx-cross:<folder>``,
    ``jina:<model>``, ``cohere:<model>``, ``voyage:<model>``, ``vllm:<model>@<url>``, ``tei:<url>``,
    one of another extension, or ``module:factory``.
    """
    factory, argument = RERANKERS.split(spec)
    return as_reranker(factory(argument))


def check_reranker(spec: str) -> None:
    """Raise InputError for a *spec* that cannot be a reranker, before a model is loaded."""
    factory, argument = RERANKERS.split(spec)
    call_if_there(factory, "check", argument)
