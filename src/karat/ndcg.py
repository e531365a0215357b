"""NDCG of rankings, for use from Python: single, compared, in batches, as a stream, and online.

Nothing here loads numpy before a vector is used.
"""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.engines.vectors.store import VECTOR_STORES, Neighbour, VectorStore
    from karat.extensions.ndcg.backend import Operation, VectorBackend, get_vector_backend
    from karat.extensions.ndcg.evaluator import (
        BUCKETS,
        Batch,
        Estimate,
        NDCGEvaluator,
        vector_ndcg_avg,
    )
    from karat.extensions.ndcg.online import InterleavedSearch, ScoreWindow, StreamingEvaluator
    from karat.extensions.ndcg.synthetic import SyntheticData, create_synthetic_evaluation_data

__all__ = [
    "BUCKETS",
    "VECTOR_STORES",
    "Batch",
    "Estimate",
    "InterleavedSearch",
    "NDCGEvaluator",
    "Neighbour",
    "Operation",
    "ScoreWindow",
    "StreamingEvaluator",
    "SyntheticData",
    "VectorBackend",
    "VectorStore",
    "create_synthetic_evaluation_data",
    "get_vector_backend",
    "vector_ndcg_avg",
]

__getattr__ = exports(
    __name__,
    {
        "extensions.ndcg.evaluator": "NDCGEvaluator Batch Estimate BUCKETS vector_ndcg_avg",
        "extensions.ndcg.online": "InterleavedSearch ScoreWindow StreamingEvaluator",
        "extensions.ndcg.synthetic": "SyntheticData create_synthetic_evaluation_data",
        "extensions.ndcg.backend": "Operation VectorBackend get_vector_backend",
        "engines.vectors.store": "VECTOR_STORES Neighbour VectorStore",
    },
    root="karat",
)
