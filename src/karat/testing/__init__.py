"""Contract suites for engines, embedders, rerankers, stores, executors and vector back ends."""

from karat.testing.engines import EmbedderSuite, EngineSuite, RerankerSuite
from karat.testing.executor import ExecutorSuite
from karat.testing.store import StoreSuite
from karat.testing.vectors import SnapshotStoreSuite, VectorBackendSuite

__all__ = [
    "EmbedderSuite",
    "EngineSuite",
    "ExecutorSuite",
    "RerankerSuite",
    "SnapshotStoreSuite",
    "StoreSuite",
    "VectorBackendSuite",
]
