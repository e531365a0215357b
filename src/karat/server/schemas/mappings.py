"""Mappings: which document of a collection each reference of a dataset means."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, StringConstraints

from karat.server.schemas.base import NO_NUL, Answer, Listing, Request

__all__ = ["Mapping", "MappingCreate", "Mappings", "ReferenceBind", "Resolved", "Unresolved"]

MappingStatus = Literal["pending", "resolved", "partial"]


class MappingCreate(Request):
    """The collection that a dataset is to be measured on."""

    collection_id: UUID

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"collection_id": "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"}]}
    )


class Mapping(Answer):
    """A dataset on a collection, and how many of its references are known there."""

    id: UUID
    dataset_id: UUID
    collection_id: UUID
    mapping_status: MappingStatus
    mapped_count: int
    total_count: int
    created_at: datetime
    resolved_at: datetime | None


class Mappings(Listing):
    """A page of mappings, the newest first."""

    mappings: list[Mapping]


class Unresolved(Answer):
    """A reference without a document: none fits, several fit, or it means nothing."""

    query_id: str
    doc_ref: dict[str, Any]
    doc_ref_hash: str
    reason: Literal["not_found", "ambiguous", "invalid_ref"]


class Resolved(Answer):
    """What resolving has found; *unresolved* lists at most 100 references.

    *operation_uuid* names the job where resolving was left to one (202), else it is null.
    """

    id: UUID
    operation_uuid: UUID | None
    mapping_status: MappingStatus
    mapped_count: int
    total_count: int
    unresolved: list[Unresolved] = Field(max_length=100)


class ReferenceBind(Request):
    """The document that an unresolved reference means, chosen by hand."""

    query_id: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
    doc_ref_hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}$")]
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=NO_NUL)]
