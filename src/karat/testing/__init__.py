"""Contract suites for extensions, and for engines, models, stores and executors."""

from karat.testing.engines import EmbedderSuite, EngineSuite, RerankerSuite
from karat.testing.executor import ExecutorSuite
from karat.testing.extensions import ExtensionSuite
from karat.testing.store import StoreSuite
from karat.testing.vectors import VectorStoreSuite

__all__ = [
    "EmbedderSuite",
    "EngineSuite",
    "ExecutorSuite",
    "ExtensionSuite",
    "RerankerSuite",
    "StoreSuite",
    "VectorStoreSuite",
]
