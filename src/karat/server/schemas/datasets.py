"""Benchmark datasets: queries with graded references to documents."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from karat.server.schemas.base import Answer, Listing

__all__ = ["Dataset", "DatasetQueries", "DatasetQuery", "Datasets", "RelevantDoc"]


class Dataset(Answer):
    """A dataset; *version* counts the changes of its judgments, from 1."""

    id: UUID
    name: str
    description: str
    owner_id: str
    query_count: int
    schema_version: str = Field(examples=["1.0"])
    created_at: datetime
    updated_at: datetime
    version: int = Field(ge=1, examples=[1])


class Datasets(Listing):
    """A page of datasets, the newest first."""

    datasets: list[Dataset]


class RelevantDoc(Answer):
    """A judgment: *doc_ref* has one key, such as ``uri`` or ``path``, and perhaps lines."""

    doc_ref: dict[str, Any] = Field(examples=[{"uri": "file:///docs/auth.md"}])
    relevance_grade: float


class DatasetQuery(Answer):
    """A query with its judgments."""

    query_id: str
    query_key: str
    query_text: str
    relevant_docs: list[RelevantDoc]
    tags: dict[str, str]


class DatasetQueries(Listing):
    """A page of queries in the order of the dataset."""

    queries: list[DatasetQuery]
