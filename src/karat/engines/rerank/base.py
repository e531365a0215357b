"""The protocol of a reranker, which scores a few texts for a query."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.base import SupportsCheck
from karat.registry import Registry


@runtime_checkable
class Reranker(Protocol):
    """Scores texts for a query; higher is better, on any scale.

    The contract: one finite score per text, in order, which depends on the query and that text
    only. Any text is accepted; one that is too long is truncated. It is thread-safe. *weight* is
    the default share of these scores in the final order; the first search has the rest.
    """

    name: str
    weight: float

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return one score per text."""
        ...


@runtime_checkable
class SupportsFromCache(Protocol):
    """A reranker with a cache on disk, whose latency is not that of its model."""

    def from_cache(self) -> bool:
        """Return whether all scores of this thread's last call came from the cache."""
        ...


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
    return factory(argument)


def check_reranker(spec: str) -> None:
    """Raise InputError for a *spec* that cannot be a reranker, before a model is loaded."""
    factory, argument = RERANKERS.split(spec)
    checked: object = factory
    if isinstance(checked, SupportsCheck):
        checked.check(argument)
