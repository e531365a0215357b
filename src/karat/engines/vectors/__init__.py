"""Vector back ends: nearest neighbours by cosine, behind one small protocol."""

from karat.engines.vectors.backend import Operation, VectorBackend
from karat.engines.vectors.catalogue import VECTOR_STORES, get_vector_backend
from karat.engines.vectors.store import Neighbour, VectorStore

__all__ = [
    "VECTOR_STORES",
    "Neighbour",
    "Operation",
    "VectorBackend",
    "VectorStore",
    "get_vector_backend",
]
