"""What a service keeps: tokens, collections, datasets, mappings, benchmarks, jobs and events."""

from karat.service.store.judgments import Edit
from karat.service.store.records import (
    Annotation,
    Benchmark,
    BenchmarkDataset,
    Collection,
    DatasetMapping,
    Document,
    Job,
    JobKind,
    JobStatus,
    Page,
    ServiceEvent,
    StoredJudgment,
    Token,
)
from karat.service.store.service import ServiceStore

__all__ = [
    "Annotation",
    "Benchmark",
    "BenchmarkDataset",
    "Collection",
    "DatasetMapping",
    "Document",
    "Edit",
    "Job",
    "JobKind",
    "JobStatus",
    "Page",
    "ServiceEvent",
    "ServiceStore",
    "StoredJudgment",
    "Token",
]
