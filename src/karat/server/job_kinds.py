"""Which handler does which kind of job."""

from karat.server.benchmark_job import BenchmarkJob
from karat.server.index_job import IndexJob
from karat.server.jobs import Handlers
from karat.server.resolve_job import ResolveJob
from karat.store.service import JobKind

__all__ = ["HANDLERS"]

HANDLERS: Handlers = {
    JobKind.BENCHMARK: BenchmarkJob(),
    JobKind.INDEX: IndexJob(),
    JobKind.RESOLVE: ResolveJob(),
}
