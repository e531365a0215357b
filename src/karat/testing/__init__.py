"""Conformance suites and fakes for tests and plug-ins; the product never imports them."""

from karat.testing.embedding import EmbedderSuite
from karat.testing.engines import EngineSuite
from karat.testing.executor import ExecutorSuite
from karat.testing.rerank import RerankerSuite
from karat.testing.service import ServiceStoreSuite
from karat.testing.store import StoreSuite
from karat.testing.vectors import VectorBackendSuite

__all__ = [
    "EmbedderSuite",
    "EngineSuite",
    "ExecutorSuite",
    "RerankerSuite",
    "ServiceStoreSuite",
    "StoreSuite",
    "VectorBackendSuite",
]
