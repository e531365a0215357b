"""Search engines under test: the protocol, the adapters, and what an engine of your own needs."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.corpus import (
        DiskCache,
        MemoryCache,
        Piece,
        SplitResult,
        Trait,
        chunk_corpus,
        classify,
        create_chunker,
        delta,
        header,
        symbols,
    )
    from karat.engines.adapters.python import adapted
    from karat.engines.agent import RetrievalAgent, RetrievalResult
    from karat.engines.base import Engine
    from karat.engines.spec import build
    from karat.model.spec import Spec

__all__ = [
    "DiskCache",
    "Engine",
    "MemoryCache",
    "Piece",
    "RetrievalAgent",
    "RetrievalResult",
    "Spec",
    "SplitResult",
    "Trait",
    "adapted",
    "build",
    "chunk_corpus",
    "classify",
    "create_chunker",
    "delta",
    "header",
    "symbols",
]

__getattr__ = exports(
    __name__,
    {
        "adapters.python": "adapted",
        "agent": "RetrievalAgent RetrievalResult",
        "base": "Engine",
        "spec": "build",
        ".model.spec": "Spec",
        ".corpus": "DiskCache MemoryCache Piece SplitResult Trait chunk_corpus classify "
        "create_chunker delta header symbols",
    },
)
