"""A Python client of the service: the same nouns as its API, typed, with pages and streams."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.extensions.service.client import (
        Benchmark,
        BenchmarkStart,
        Client,
        Collection,
        Dataset,
        Engine,
        Event,
        Mapping,
        MappingResolution,
        QueryResult,
        Results,
        RunResult,
        ServiceError,
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

__getattr__ = exports(__name__, {"extensions.service.client": " ".join(__all__)}, root="karat")
