"""Conformance suites and fakes for tests and plug-ins; the product never imports them."""

from karat.testing.engines import EngineSuite
from karat.testing.executor import ExecutorSuite
from karat.testing.service import ServiceStoreSuite
from karat.testing.store import StoreSuite
from karat.testing.vectors import VectorBackendSuite

__all__ = ["EngineSuite", "ExecutorSuite", "ServiceStoreSuite", "StoreSuite", "VectorBackendSuite"]
