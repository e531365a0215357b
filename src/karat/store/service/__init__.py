"""What a service keeps: tokens, collections, datasets, mappings, benchmarks, jobs and events."""

from karat.store.service.judgments import Edit
from karat.store.service.records import (
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
from karat.store.service.service import ServiceStore

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
