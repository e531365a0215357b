"""Search engines under test: the base class, the adapters, and what an engine of your own needs."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.corpus import (
        DiskCache,
        FileSelection,
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
    from karat.engines.base import (
        Engine,
        ExplainedHit,
        Progress,
        RetrievalAgent,
        RetrievalResult,
        SearchStep,
    )
    from karat.engines.registry import EngineInfo, register
    from karat.engines.spec import build, parse_spec, read_specs
    from karat.model.spec import Spec

__all__ = [
    "DiskCache",
    "Engine",
    "EngineInfo",
    "ExplainedHit",
    "FileSelection",
    "MemoryCache",
    "Piece",
    "Progress",
    "RetrievalAgent",
    "RetrievalResult",
    "SearchStep",
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
    "parse_spec",
    "read_specs",
    "register",
    "symbols",
]

__getattr__ = exports(
    __name__,
    {
        "adapters.python": "adapted",
        "base": "Engine ExplainedHit Progress RetrievalAgent RetrievalResult SearchStep",
        "registry": "EngineInfo register",
        "spec": "build parse_spec read_specs",
        ".model.spec": "Spec",
        ".corpus": "DiskCache FileSelection MemoryCache Piece SplitResult Trait chunk_corpus "
        "classify create_chunker delta header symbols",
    },
)
