"""NDCG of rankings, for use from Python: single, compared, in batches, as a stream, and online.

Nothing here loads numpy before it needs it.
"""

from karat.engines.vectors import get_vector_backend
from karat.ndcg.abtest import InterleavedSearch
from karat.ndcg.batch import Batch
from karat.ndcg.estimate import Estimate
from karat.ndcg.evaluator import NDCGEvaluator
from karat.ndcg.histogram import BUCKETS, vector_ndcg_avg
from karat.ndcg.streaming import ScoreWindow, StreamingEvaluator
from karat.ndcg.synthetic import SyntheticData, create_synthetic_evaluation_data

__all__ = [
    "BUCKETS",
    "Batch",
    "Estimate",
    "InterleavedSearch",
    "NDCGEvaluator",
    "ScoreWindow",
    "StreamingEvaluator",
    "SyntheticData",
    "create_synthetic_evaluation_data",
    "get_vector_backend",
    "vector_ndcg_avg",
]
