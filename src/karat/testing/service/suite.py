"""The law of the store of a service, as tests that any database inherits.

    class TestMyDatabase(ServiceStoreSuite):
        @pytest.fixture
        def open_service(self, tmp_path):
            return lambda clock: ServiceStore(tmp_path / "karat.db", clock=clock)

The fixture gives a function that opens an empty store whose time is told by *clock*.
"""

from karat.testing.service.benchmarks import BenchmarkLaw
from karat.testing.service.collections import CollectionLaw
from karat.testing.service.datasets import DatasetLaw
from karat.testing.service.events import EventLaw
from karat.testing.service.jobs import JobLaw
from karat.testing.service.losses import LossLaw

__all__ = ["ServiceStoreSuite"]


class ServiceStoreSuite(CollectionLaw, DatasetLaw, BenchmarkLaw, LossLaw, JobLaw, EventLaw):
    """What holds for the store of every service; a subclass provides ``open_service``."""
