"""A Python client of the service: the same nouns as its API, typed, with pages and streams."""

from karat.client.client import Client
from karat.client.connection import ServiceError
from karat.client.records import (
    Benchmark,
    Collection,
    Dataset,
    Engine,
    Event,
    Mapping,
    QueryResult,
    Resolved,
    Results,
    RunResult,
    Started,
)

__all__ = [
    "Benchmark",
    "Client",
    "Collection",
    "Dataset",
    "Engine",
    "Event",
    "Mapping",
    "QueryResult",
    "Resolved",
    "Results",
    "RunResult",
    "ServiceError",
    "Started",
]
