"""The rerankers by name; adding one is a file and a line here."""

from collections.abc import Callable

from karat.engines.rerank.base import Reranker
from karat.registry import Registry

__all__ = ["DEFAULT_RERANKER", "RERANKERS", "check_reranker", "create_reranker"]

DEFAULT_RERANKER = "maxsim"

RERANKERS: Registry[Callable[[str], Reranker]] = Registry(
    "reranker",
    {
        "cross": "karat.engines.rerank.cross:cross",
        "maxsim": "karat.engines.rerank.maxsim:maxsim",
        "onnx-cross": "karat.engines.rerank.onnx_cross:onnx_cross",
    },
    aliases={"late-interaction": "maxsim", "cross-encoder": "cross"},
)


def create_reranker(spec: str = DEFAULT_RERANKER) -> Reranker:
    """Return the reranker that *spec* describes: a name, and after a colon what it is about.

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
    """Refuse a *spec* that is known to make no reranker before a model is loaded for it.

    >>> check_reranker("maxsim:granit")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no embedder named 'granit'; did you mean 'granite'?
    """
    factory, argument = RERANKERS.split(spec)
    if factory is RERANKERS.get("maxsim"):
        from karat.engines.rerank.maxsim import check_embedder

        check_embedder(argument)
