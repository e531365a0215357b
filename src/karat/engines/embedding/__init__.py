"""Embedders: models that turn texts into vectors, offline by default, with a cache."""

from karat.engines.embedding.base import (
    DEFAULT_EMBEDDER,
    EMBEDDERS,
    Embedder,
    Kind,
    create_embedder,
    loaded_once,
)

__all__ = [
    "DEFAULT_EMBEDDER",
    "EMBEDDERS",
    "Embedder",
    "Kind",
    "create_embedder",
    "loaded_once",
]
