"""Which handler does which kind of job."""

from karat.server.benchmark_job import BenchmarkJob
from karat.server.jobs import Handlers
from karat.store.service import JobKind

__all__ = ["HANDLERS"]

HANDLERS: Handlers = {
    JobKind.BENCHMARK: BenchmarkJob(),
}
