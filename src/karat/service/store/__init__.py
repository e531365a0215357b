"""What a service keeps: tokens, collections, datasets, mappings, benchmarks, jobs and events."""

from karat.service.store.judgments import Edit
from karat.service.store.records import (
    Annotation,
    Benchmark,
    BenchmarkDataset,
    Collection,
    Document,
    Event,
    Job,
    JobKind,
    JobStatus,
    Judgment,
    Mapped,
    Page,
    Token,
)
from karat.service.store.service import ServiceStore

__all__ = [
    "Annotation",
    "Benchmark",
    "BenchmarkDataset",
    "Collection",
    "Document",
    "Edit",
    "Event",
    "Job",
    "JobKind",
    "JobStatus",
    "Judgment",
    "Mapped",
    "Page",
    "ServiceStore",
    "Token",
]
