"""Datasets, uploaded as files, and their mappings to collections."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import anyio.to_process
from fastapi import APIRouter, Depends, Form, Query, Request, Response, UploadFile
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool

from karat.errors import InputError, LimitExceeded, UnknownName
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import (
    Caller,
    CurrentCaller,
    CurrentService,
    RequestedPage,
    Service,
)
from karat.extensions.service.collections import not_indexed
from karat.extensions.service.datasets import (
    Upload,
    add_dataset,
    bind_folder,
    bind_reference,
    moved_folder,
    resolve_mapping,
)
from karat.extensions.service.schemas.base import NO_NUL, Description, Name
from karat.extensions.service.schemas.datasets import (
    Dataset,
    DatasetQueries,
    DatasetQuery,
    Datasets,
    FolderBind,
    Mapping,
    MappingCreate,
    MappingResolution,
    Mappings,
    ReferenceBind,
    RelevantDoc,
    UnresolvedReference,
)
from karat.extensions.service.store import BenchmarkDataset, DatasetMapping, JobKind
from karat.model import Query as GoldQuery
from karat.model import Target

# Suffixes that format detection uses; any other is dropped.
SUFFIXES = frozenset({".csv", ".json", ".jsonl", ".qrels", ".tsv", ".txt", ".yaml", ".yml"})


def keep(stream: BinaryIO, name: str | None, folder: str) -> Path:
    """Write *stream* to a new file in *folder* and return that; of *name* the suffix counts."""
    suffix = Path(name or "").suffix.lower()
    path = Path(folder) / f"upload{suffix if suffix in SUFFIXES else ''}"
    with path.open("xb") as file:
        shutil.copyfileobj(stream, file)
    return path


def only(*fields: str) -> Any:
    """Return a dependency that rejects forms with a field that is not in *fields*."""

    async def check(request: Request) -> None:
        unknown = sorted(set(await request.form()) - set(fields))
        if unknown:
            message = "Extra inputs are not permitted"
            raise RequestValidationError(
                [{"loc": ("body", name), "msg": message} for name in unknown]
            )

    return Depends(check)


router = APIRouter(prefix="/api/v2/benchmark-datasets", tags=["datasets"])

# Up to this size a thread reads the file; above it a process, so that requests do not wait.
SMALL_BYTES = 64 * 1024


@router.post(
    "",
    status_code=201,
    responses=failures(400, 408, 413),
    dependencies=[only("file", "name", "description")],
)
async def upload_dataset(
    serving: CurrentService,
    caller: CurrentCaller,
    file: UploadFile,
    name: Annotated[Name, Form()],
    description: Annotated[Description, Form()] = "",
) -> Dataset:
    """Upload a dataset in any format that Karat reads; problems are reported with their lines."""
    store, limits = serving.settings.store, serving.settings.limits.files
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        path = await run_in_threadpool(keep, file.file, file.filename, folder)
        upload = Upload(path, caller.owner, name, description, limits)
        if (file.size or 0) <= SMALL_BYTES:
            added = await run_in_threadpool(add_dataset, store, upload)
        else:
            added = await anyio.to_process.run_sync(add_dataset, store, upload, cancellable=True)
    if not isinstance(added, str):
        # A client knows the file by its own name, which never becomes a path here.
        reason = added.reason.replace(path.name, Path(file.filename or "").name or "the file")
        raise (LimitExceeded if added.too_large else InputError)(reason)
    return _dataset(await run_in_threadpool(serving.store.datasets.get, added))


@router.get("", responses=failures())
def list_datasets(
    serving: CurrentService, caller: CurrentCaller, paging: RequestedPage
) -> Datasets:
    """List datasets, the newest first."""
    page = serving.store.datasets.page(owner=caller.sees, **paging.part)
    return Datasets(datasets=list(map(_dataset, page.items)), total=page.total, **paging._asdict())


@router.get("/{dataset_id}", responses=failures(404))
def get_dataset(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, response: Response
) -> Dataset:
    """Return one dataset."""
    dataset = serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    # By the digest of the upload a client finds out whether it has to upload its file.
    response.headers["ETag"] = f'"{dataset.gold}-{dataset.version}"'
    return _dataset(dataset)


@router.delete("/{dataset_id}", status_code=204, responses=failures(404, 409))
def delete_dataset(serving: CurrentService, caller: CurrentCaller, dataset_id: UUID) -> None:
    """Delete a dataset with its mappings, unless a benchmark uses it."""
    serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    serving.store.datasets.delete(str(dataset_id))


@router.get("/{dataset_id}/queries", responses=failures(404))
def list_queries(
    serving: CurrentService,
    caller: CurrentCaller,
    dataset_id: UUID,
    paging: RequestedPage,
    q: Annotated[str, Query(max_length=1000, pattern=NO_NUL)] = "",
) -> DatasetQueries:
    """List queries with their judgments; *q* is a part of the text or the key, ignoring case."""
    dataset = serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    gold = serving.gold(dataset.gold)
    part = q.lower()
    matches = [
        query for query in gold.queries() if part in query.text.lower() or part in query.id.lower()
    ]
    first = paging.part["offset"]
    return DatasetQueries(
        queries=list(map(_query, matches[first : first + paging.per_page])),
        total=len(matches),
        **paging._asdict(),
    )


def _dataset(stored: BenchmarkDataset) -> Dataset:
    return Dataset(
        id=stored.id,
        name=stored.name,
        description=stored.description,
        owner_id=stored.owner,
        query_count=stored.queries,
        schema_version=stored.schema_version,
        created_at=stored.created,
        updated_at=stored.updated,
        version=stored.version,
    )


def _query(query: GoldQuery) -> DatasetQuery:
    docs = [
        RelevantDoc(doc_ref=_reference(target), relevance_grade=target.grade)
        for target in query.targets
    ]
    return DatasetQuery(
        query_id=query.id,
        query_key=query.id,
        query_text=query.text,
        relevant_docs=docs,
        tags=dict(query.tags),
    )


def _reference(target: Target) -> dict[str, str | int]:
    reference: dict[str, str | int] = {target.ref: target.path}
    if target.end_line:
        reference |= {"start_line": target.start_line, "end_line": target.end_line}
    if target.symbol:
        reference["symbol"] = target.symbol
    return reference


mappings_router = APIRouter(
    prefix="/api/v2/benchmark-datasets/{dataset_id}/mappings", tags=["mappings"]
)

MOST_UNRESOLVED = 100
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": MappingResolution,
        "description": "A job resolves it; its operation reports progress",
    }
}


@mappings_router.post("", status_code=201, responses=failures(404, 409))
def create_mapping(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, asked: MappingCreate
) -> Mapping:
    """Map a dataset to a collection; its references are not looked up yet."""
    store = serving.store
    store.datasets.get(str(dataset_id), owner=caller.sees)
    store.collections.get(str(asked.collection_id), owner=caller.sees)
    return _mapping(store.mappings.add(str(dataset_id), str(asked.collection_id)))


@mappings_router.get("", responses=failures(404))
def list_mappings(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, paging: RequestedPage
) -> Mappings:
    """List the mappings of a dataset, the newest first."""
    serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    page = serving.store.mappings.page(str(dataset_id), **paging.part)
    return Mappings(mappings=list(map(_mapping, page.items)), total=page.total, **paging._asdict())


@mappings_router.get("/{mapping_id}", responses=failures(404))
def get_mapping(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, mapping_id: UUID
) -> Mapping:
    """Return one mapping."""
    return _mapping(_mapped(serving, caller, dataset_id, mapping_id))


@mappings_router.post("/{mapping_id}/resolve", responses={**failures(400, 404, 409), **ACCEPTED})
def resolve(
    serving: CurrentService,
    caller: CurrentCaller,
    dataset_id: UUID,
    mapping_id: UUID,
    response: Response,
) -> MappingResolution:
    """Resolve all references to documents; many references are resolved by a job."""
    mapped = _mapped(serving, caller, dataset_id, mapping_id)
    store = serving.store
    collection = store.collections.get(mapped.collection)
    if collection.status != "ready":
        raise not_indexed(collection)
    gold = serving.gold(store.datasets.get(mapped.dataset).gold)
    if gold.offsets[-1] <= serving.settings.limits.resolve_at_once:
        return _resolved(serving, resolve_mapping(store, mapped.id, serving.settings.folders))
    job = serving.begin(JobKind.RESOLVE, mapped.id, caller)
    response.status_code = 202
    return _resolved(serving, store.mappings.get(mapped.id), operation=job.id)


@mappings_router.get("/{mapping_id}/unresolved", responses=failures(404))
def unresolved(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, mapping_id: UUID
) -> MappingResolution:
    """Return the references that the last resolution left unresolved."""
    return _resolved(serving, _mapped(serving, caller, dataset_id, mapping_id))


@mappings_router.post("/{mapping_id}/references", responses=failures(400, 404, 409))
def bind(
    serving: CurrentService,
    caller: CurrentCaller,
    dataset_id: UUID,
    mapping_id: UUID,
    asked: ReferenceBind,
) -> MappingResolution:
    """Bind an unresolved reference to a document by hand."""
    mapped = _mapped(serving, caller, dataset_id, mapping_id)
    bound = bind_reference(
        serving.store,
        mapped.id,
        query=asked.query_id,
        reference=asked.doc_ref_hash,
        path=asked.path,
        folders=serving.settings.folders,
    )
    return _resolved(serving, bound)


@mappings_router.post("/{mapping_id}/folders", responses=failures(400, 404, 409))
def bind_moved_folder(
    serving: CurrentService,
    caller: CurrentCaller,
    dataset_id: UUID,
    mapping_id: UUID,
    asked: FolderBind,
) -> MappingResolution:
    """Bind all unresolved references of a folder to the documents of another folder."""
    mapped = _mapped(serving, caller, dataset_id, mapping_id)
    bound = bind_folder(
        serving.store,
        mapped.id,
        old=asked.reference_folder,
        new=asked.collection_folder,
        folders=serving.settings.folders,
    )
    return _resolved(serving, bound)


def _mapped(serving: Service, caller: Caller, dataset_id: UUID, mapping_id: UUID) -> DatasetMapping:
    mapping = serving.store.mappings.get(str(mapping_id), owner=caller.sees)
    if mapping.dataset != str(dataset_id):
        raise UnknownName(f"no mapping {mapping_id} of dataset {dataset_id}")
    return mapping


def _mapping(stored: DatasetMapping) -> Mapping:
    return Mapping.model_validate(
        {
            "id": stored.id,
            "dataset_id": stored.dataset,
            "collection_id": stored.collection,
            "mapping_status": stored.status,
            "mapped_count": stored.mapped,
            "total_count": stored.total,
            "created_at": stored.created,
            "resolved_at": stored.resolved_at,
        }
    )


def _resolved(
    serving: Service, mapping: DatasetMapping, *, operation: str | None = None
) -> MappingResolution:
    return MappingResolution.model_validate(
        {
            "id": mapping.id,
            "operation_uuid": operation,
            "mapping_status": mapping.status,
            "mapped_count": mapping.mapped,
            "total_count": mapping.total,
            "unresolved": [
                {name: each[name] for name in UnresolvedReference.model_fields}
                for each in mapping.unresolved[:MOST_UNRESOLVED]
            ],
            "moved_folder": moved_folder(serving.store, mapping),
        }
    )
