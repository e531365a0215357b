"""A Python client of the service: the same nouns as its API, typed, with pages and streams."""

from karat.client.client import Client, ServiceError
from karat.client.records import (
    Benchmark,
    BenchmarkStart,
    Collection,
    Dataset,
    Engine,
    Event,
    Mapping,
    MappingResolution,
    QueryResult,
    Results,
    RunResult,
)

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
