"""Embedders: models that turn texts into vectors, offline by default, with a cache."""

from karat.engines.embedding.base import Embedder, Kind, SupportsTokenVectors
from karat.engines.embedding.catalogue import (
    DEFAULT_EMBEDDER,
    EMBEDDERS,
    create_embedder,
    loaded_once,
)

__all__ = [
    "DEFAULT_EMBEDDER",
    "EMBEDDERS",
    "Embedder",
    "Kind",
    "SupportsTokenVectors",
    "create_embedder",
    "loaded_once",
]
