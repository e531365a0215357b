"""Rerank the first hits of any engine with a model that reads their text."""

from karat.engines.rerank.base import (
    DEFAULT_RERANKER,
    RERANKERS,
    Reranker,
    check_reranker,
    create_reranker,
)
from karat.engines.rerank.engine import RerankEngine, rerank

__all__ = [
    "DEFAULT_RERANKER",
    "RERANKERS",
    "RerankEngine",
    "Reranker",
    "check_reranker",
    "create_reranker",
    "rerank",
]
