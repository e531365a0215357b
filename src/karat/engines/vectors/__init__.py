"""Vector back ends: nearest neighbours by cosine, behind one small protocol."""

from karat.engines.vectors.backend import (
    VECTOR_STORES,
    Operation,
    VectorBackend,
    get_vector_backend,
)
from karat.engines.vectors.store import Neighbour, VectorStore

__all__ = [
    "VECTOR_STORES",
    "Neighbour",
    "Operation",
    "VectorBackend",
    "VectorStore",
    "get_vector_backend",
]
