"""Benchmark datasets: queries with graded references to documents."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from karat.extensions.service.schemas.base import (
    NO_NUL,
    Answer,
    Description,
    FilePath,
    Id,
    Listing,
    QueryId,
    Request,
)


class Dataset(Answer):
    """A dataset; *version* counts the changes of its judgments, from 1."""

    id: Id
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


class NamedQuery(Answer):
    """A query: its id, its name in the dataset, and its text."""

    query_id: str
    query_key: str
    query_text: str


class DatasetQuery(NamedQuery):
    """A query with its judgments."""

    relevant_docs: list[RelevantDoc]
    tags: dict[str, str]


class DatasetQueries(Listing):
    """A page of queries in the order of the dataset."""

    queries: list[DatasetQuery]


MappingStatus = Literal["pending", "resolved", "partial"]


class MappingCreate(Request):
    """The collection that a dataset is mapped to."""

    collection_id: UUID

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"collection_id": "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"}]}
    )


class Mapping(Answer):
    """A dataset on a collection, and how many of its references are resolved."""

    id: Id
    dataset_id: Id
    collection_id: Id
    mapping_status: MappingStatus
    mapped_count: int
    total_count: int
    created_at: datetime
    resolved_at: datetime | None


class Mappings(Listing):
    """A page of mappings, the newest first."""

    mappings: list[Mapping]


class UnresolvedReference(Answer):
    """A reference without a document: no document matches, several match, or it is invalid."""

    query_id: str
    doc_ref: dict[str, Any]
    doc_ref_hash: str
    reason: Literal["not_found", "skipped", "ambiguous", "invalid_ref"]


class MovedFolder(Answer):
    """A folder of references that is called otherwise in the collection, "" for its root.

    *reference_count* is how many unresolved references are documents there.
    """

    reference_folder: str = Field(examples=["docs/"])
    collection_folder: str = Field(examples=["handbook/"])
    reference_count: int


class FolderBind(Request):
    """A folder of unresolved references, and the one that it is called in the collection."""

    reference_folder: Annotated[str, StringConstraints(max_length=4096, pattern=NO_NUL)]
    collection_folder: Annotated[str, StringConstraints(max_length=4096, pattern=NO_NUL)]

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"reference_folder": "docs/", "collection_folder": "handbook/"}]
        }
    )


class MappingResolution(Answer):
    """The result of resolving a mapping; *unresolved* lists at most 100 references.

    *operation_uuid* names the job if a job resolves it (202), else it is null. *moved_folder* is
    the folder whose new name resolves most of them at once, null without one.
    """

    id: Id
    operation_uuid: Id | None
    mapping_status: MappingStatus
    mapped_count: int
    total_count: int
    unresolved: list[UnresolvedReference] = Field(max_length=100)
    moved_folder: MovedFolder | None


class ReferenceBind(Request):
    """The document that an unresolved reference means, chosen by hand."""

    query_id: QueryId
    doc_ref_hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}$")]
    path: FilePath


class JudgmentEdit(Request):
    """A grade for one place, based on *version* of the judgments."""

    query_id: QueryId
    path: FilePath
    start_line: int | None = Field(default=None, ge=1, le=10_000_000)
    end_line: int | None = Field(default=None, ge=1, le=10_000_000)
    grade: int = Field(ge=0, le=3)
    reason: Description = ""
    version: int = Field(ge=1)

    @model_validator(mode="after")
    def _whole_range(self) -> "JudgmentEdit":
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("one end of the line range is missing")
        if self.start_line and self.end_line and self.end_line < self.start_line:
            raise ValueError("end_line is before start_line")
        return self


class JudgmentChange(Answer):
    """One change: *before* is null where there was no grade, *grade* null where it was undone."""

    version: int
    query_id: str
    path: str
    start_line: int | None
    end_line: int | None
    before: float | None
    grade: float | None
    reason: str
    owner_id: str
    created_at: datetime


class Judgments(Answer):
    """The version after a change, and the change."""

    version: int
    change: JudgmentChange


class JudgmentHistory(Listing):
    """A page of changes, the newest first."""

    version: int
    changes: list[JudgmentChange]


class UnjudgedHit(Answer):
    """An unjudged hit, with its best rank in any run."""

    query_id: str
    query_text: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    best_rank: int
    runs: list[str]


class UnjudgedHits(Listing):
    """A page of unjudged hits, in the order that was requested."""

    version: int
    hits: list[UnjudgedHit]
