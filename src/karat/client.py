"""A Python client of the service: the same nouns as its API, typed, with pages and streams."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.extensions.service.client import Client, Event, ServiceError
    from karat.extensions.service.schemas.benchmarks import Benchmark, BenchmarkStart
    from karat.extensions.service.schemas.collections import Collection, Engine
    from karat.extensions.service.schemas.datasets import Dataset, Mapping, MappingResolution
    from karat.extensions.service.schemas.results import QueryResult, Results, RunResult

__all__ = [
    "Benchmark",
    "BenchmarkStart",
    "Client",
    "Collection",
    "Dataset",
    "Engine",
    "Event",
    "Mapping",
    "MappingResolution",
    "QueryResult",
    "Results",
    "RunResult",
    "ServiceError",
]

__getattr__ = exports(
    __name__,
    {
        "extensions.service.client": "Client Event ServiceError",
        "extensions.service.schemas.benchmarks": "Benchmark BenchmarkStart",
        "extensions.service.schemas.collections": "Collection Engine",
        "extensions.service.schemas.datasets": "Dataset Mapping MappingResolution",
        "extensions.service.schemas.results": "QueryResult Results RunResult",
    },
    root="karat",
)
