"""The protocol of a reranker, which scores a few texts for a query."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from karat.registry import Registry

__all__ = ["DEFAULT_RERANKER", "RERANKERS", "Reranker", "check_reranker", "create_reranker"]


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
        """Return one score a text."""
        ...


DEFAULT_RERANKER = "maxsim"

RERANKERS: Registry[Callable[[str], Reranker]] = Registry(
    "reranker",
    {
        "cross": "karat.engines.rerank.cross:cross",
        "maxsim": "karat.engines.rerank.maxsim:maxsim",
        "onnx-cross": "karat.engines.rerank.cross:onnx_cross",
    },
    aliases={"late-interaction": "maxsim", "cross-encoder": "cross"},
)


def create_reranker(spec: str = DEFAULT_RERANKER) -> Reranker:
    """Return the reranker that *spec* describes: a name, and an argument after a colon.

    ``maxsim`` and ``maxsim:<embedder>``, ``cross:<hub id or folder>``, ``onnx-cross:<folder>``, a
    plug-in of the entry point group ``karat.rerankers``, or ``module:factory``.

    >>> create_reranker("maxsin")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no reranker named 'maxsin'; did you mean 'maxsim'?
    """
    factory, argument = RERANKERS.split(spec)
    return factory(argument)


def check_reranker(spec: str) -> None:
    """Raise InputError for a *spec* that cannot be a reranker, before a model is loaded.

    >>> check_reranker("maxsim:granit")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no embedder named 'granit'; did you mean 'granite'?
    """
    factory, argument = RERANKERS.split(spec)
    if factory is RERANKERS.get("maxsim"):
        from karat.engines.rerank.maxsim import check_embedder

        check_embedder(argument)
