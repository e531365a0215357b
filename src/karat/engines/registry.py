"""The engines by name."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from karat.engines.base import Engine
from karat.registry import Registry

__all__ = ["ADAPTERS", "ENGINES", "NEEDS", "PROFILES", "Need"]

ENGINES: Registry[Callable[..., Engine]] = Registry(
    "engine",
    {
        "bm25": "karat.engines.builtin:bm25",
        "dense": "karat.engines.builtin:dense",
        "hybrid": "karat.engines.builtin:hybrid",
        "keyword": "karat.engines.keyword:KeywordEngine",
        "rerank": "karat.engines.rerank:rerank",
        "sparse": "karat.engines.sparse:sparse",
        "command": "karat.engines.adapters.command:CommandEngine",
        "http": "karat.engines.adapters.http:HttpEngine",
        "mcp": "karat.engines.adapters.mcp:McpEngine",
        "process": "karat.engines.adapters.process:ProcessEngine",
        "python": "karat.engines.adapters.python:python_engine",
    },
)

# Engines that are only the way to a search of somebody else.
ADAPTERS = frozenset({"command", "http", "mcp", "process", "python"})


class Need(NamedTuple):
    """A package that an engine cannot work without, and the extra that brings it."""

    package: str
    extra: str


# What can be told without importing an engine.
NEEDS: Mapping[str, Need] = {
    "dense": Need("onnxruntime", "dense"),
    "hybrid": Need("onnxruntime", "dense"),
    "rerank": Need("onnxruntime", "dense"),
    "http": Need("httpx", "http"),
    "mcp": Need("mcp", "mcp"),
}


PROFILES: Mapping[str, Mapping[str, object]] = {
    "keyword": {"engine": "bm25"},
    "fast": {"engine": "hybrid", "model": "static", "dense_weight": 0.3},
    "balanced": {"engine": "hybrid"},
    "quality": {"engine": "hybrid", "windows": "all"},
}
