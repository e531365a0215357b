"""Mappings of datasets to collections, and the resolving of their references."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response

from karat.errors import UnknownName
from karat.service.api.failures import failures
from karat.service.api.schemas.datasets import (
    Mapping,
    MappingCreate,
    Mappings,
    ReferenceBind,
    Resolved,
    Unresolved,
)
from karat.service.api.state import Asking, Caller, Paged, Service, Serving
from karat.service.collections import not_indexed
from karat.service.datasets import bind_reference, resolve_mapping
from karat.service.store import DatasetMapping, JobKind

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/benchmark-datasets/{dataset_id}/mappings", tags=["mappings"])

MOST_UNRESOLVED = 100
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": Resolved, "description": "A job resolves it; follow its operation"}
}


@router.post("", status_code=201, responses=failures(404, 409))
def create_mapping(
    serving: Serving, caller: Asking, dataset_id: UUID, asked: MappingCreate
) -> Mapping:
    """Map a dataset to a collection; its references are not looked up yet."""
    store = serving.store
    store.datasets.get(str(dataset_id), owner=caller.sees)
    store.collections.get(str(asked.collection_id), owner=caller.sees)
    return _mapping(store.mappings.add(str(dataset_id), str(asked.collection_id)))


@router.get("", responses=failures(404))
def list_mappings(serving: Serving, caller: Asking, dataset_id: UUID, paging: Paged) -> Mappings:
    """List the mappings of a dataset, the newest first."""
    serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    found = serving.store.mappings.page(str(dataset_id), **paging.part)
    return Mappings(
        mappings=list(map(_mapping, found.items)), total=found.total, **paging._asdict()
    )


@router.get("/{mapping_id}", responses=failures(404))
def get_mapping(serving: Serving, caller: Asking, dataset_id: UUID, mapping_id: UUID) -> Mapping:
    """Return one mapping."""
    return _mapping(_mapped(serving, caller, dataset_id, mapping_id))


@router.post("/{mapping_id}/resolve", responses={**failures(400, 404, 409), **ACCEPTED})
def resolve(
    serving: Serving, caller: Asking, dataset_id: UUID, mapping_id: UUID, response: Response
) -> Resolved:
    """Look up what each reference means; many references are left to a job."""
    mapped = _mapped(serving, caller, dataset_id, mapping_id)
    store = serving.store
    collection = store.collections.get(mapped.collection)
    if collection.status != "ready":
        raise not_indexed(collection)
    gold = serving.gold(store.datasets.get(mapped.dataset).gold)
    if gold.offsets[-1] <= serving.settings.limits.resolve_at_once:
        return _resolved(resolve_mapping(store, mapped.id, serving.settings.places))
    job = serving.begin(JobKind.RESOLVE, mapped.id, caller)
    response.status_code = 202
    return _resolved(store.mappings.get(mapped.id), operation=job.id)


@router.get("/{mapping_id}/unresolved", responses=failures(404))
def unresolved(serving: Serving, caller: Asking, dataset_id: UUID, mapping_id: UUID) -> Resolved:
    """Return what resolving has found the last time."""
    return _resolved(_mapped(serving, caller, dataset_id, mapping_id))


@router.post("/{mapping_id}/references", responses=failures(400, 404, 409))
def bind(
    serving: Serving, caller: Asking, dataset_id: UUID, mapping_id: UUID, asked: ReferenceBind
) -> Resolved:
    """Say by hand which document an unresolved reference means."""
    mapped = _mapped(serving, caller, dataset_id, mapping_id)
    bound = bind_reference(
        serving.store,
        mapped.id,
        query=asked.query_id,
        reference=asked.doc_ref_hash,
        path=asked.path,
        places=serving.settings.places,
    )
    return _resolved(bound)


def _mapped(serving: Service, caller: Caller, dataset_id: UUID, mapping_id: UUID) -> DatasetMapping:
    found = serving.store.mappings.get(str(mapping_id), owner=caller.sees)
    if found.dataset != str(dataset_id):
        raise UnknownName(f"no mapping {mapping_id} of dataset {dataset_id}")
    return found


def _mapping(found: DatasetMapping) -> Mapping:
    return Mapping.model_validate(
        {
            "id": found.id,
            "dataset_id": found.dataset,
            "collection_id": found.collection,
            "mapping_status": found.status,
            "mapped_count": found.mapped,
            "total_count": found.total,
            "created_at": found.created,
            "resolved_at": found.resolved_at,
        }
    )


def _resolved(found: DatasetMapping, *, operation: str | None = None) -> Resolved:
    return Resolved.model_validate(
        {
            "id": found.id,
            "operation_uuid": operation,
            "mapping_status": found.status,
            "mapped_count": found.mapped,
            "total_count": found.total,
            "unresolved": [
                {name: each[name] for name in Unresolved.model_fields}
                for each in found.unresolved[:MOST_UNRESOLVED]
            ],
        }
    )
