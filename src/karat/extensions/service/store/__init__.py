"""The store: tokens, collections, datasets, mappings, benchmarks, jobs and events."""

from karat.extensions.service.store.datasets import JudgmentChangeRequest
from karat.extensions.service.store.records import (
    Annotation,
    Benchmark,
    BenchmarkDataset,
    Collection,
    DatasetMapping,
    Job,
    JobKind,
    JobStatus,
    Page,
    ServiceEvent,
    StoredDocument,
    StoredJudgment,
    Token,
)
from karat.extensions.service.store.service import ServiceStore

__all__ = [
    "Annotation",
    "Benchmark",
    "BenchmarkDataset",
    "Collection",
    "DatasetMapping",
    "Job",
    "JobKind",
    "JobStatus",
    "JudgmentChangeRequest",
    "Page",
    "ServiceEvent",
    "ServiceStore",
    "StoredDocument",
    "StoredJudgment",
    "Token",
]
