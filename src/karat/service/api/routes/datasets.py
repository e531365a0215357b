"""Benchmark datasets: uploaded, listed, read and deleted."""

from tempfile import TemporaryDirectory
from typing import Annotated
from uuid import UUID

import anyio.to_process
from fastapi import APIRouter, Form, Query, UploadFile
from starlette.concurrency import run_in_threadpool

from karat.errors import InputError, LimitExceeded
from karat.model import Query as GoldQuery
from karat.model import Target
from karat.service.api.failures import failures
from karat.service.api.schemas.base import NO_NUL, Description, Name
from karat.service.api.schemas.datasets import (
    Dataset,
    DatasetQueries,
    DatasetQuery,
    Datasets,
    RelevantDoc,
)
from karat.service.api.state import Asking, Paged, Serving
from karat.service.api.uploads import keep, only
from karat.service.datasets import Upload, add_dataset
from karat.service.store import BenchmarkDataset

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/benchmark-datasets", tags=["datasets"])

# Read at once by a thread; more would keep other requests waiting, so that a process reads it.
SMALL_BYTES = 64 * 1024


@router.post(
    "",
    status_code=201,
    responses=failures(400, 408, 413),
    dependencies=[only("file", "name", "description")],
)
async def upload_dataset(
    serving: Serving,
    caller: Asking,
    file: UploadFile,
    name: Annotated[Name, Form()],
    description: Annotated[Description, Form()] = "",
) -> Dataset:
    """Take a dataset in any format that Karat reads; problems are told with their lines."""
    store, limits = serving.settings.store, serving.settings.limits.files
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        place = await run_in_threadpool(keep, file.file, file.filename, folder)
        upload = Upload(place, caller.owner, name, description, limits)
        if (file.size or 0) <= SMALL_BYTES:
            added = await run_in_threadpool(add_dataset, store, upload)
        else:
            added = await anyio.to_process.run_sync(add_dataset, store, upload, cancellable=True)
    if not isinstance(added, str):
        raise (LimitExceeded if added.too_large else InputError)(added.reason)
    return _dataset(await run_in_threadpool(serving.store.datasets.get, added))


@router.get("", responses=failures())
def list_datasets(serving: Serving, caller: Asking, paging: Paged) -> Datasets:
    """List datasets, the newest first."""
    found = serving.store.datasets.page(owner=caller.sees, **paging.part)
    return Datasets(
        datasets=list(map(_dataset, found.items)), total=found.total, **paging._asdict()
    )


@router.get("/{dataset_id}", responses=failures(404))
def get_dataset(serving: Serving, caller: Asking, dataset_id: UUID) -> Dataset:
    """Return one dataset."""
    return _dataset(serving.store.datasets.get(str(dataset_id), owner=caller.sees))


@router.delete("/{dataset_id}", status_code=204, responses=failures(404, 409))
def delete_dataset(serving: Serving, caller: Asking, dataset_id: UUID) -> None:
    """Delete a dataset with its mappings, unless a benchmark uses it."""
    serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    serving.store.datasets.delete(str(dataset_id))


@router.get("/{dataset_id}/queries", responses=failures(404))
def list_queries(
    serving: Serving,
    caller: Asking,
    dataset_id: UUID,
    paging: Paged,
    q: Annotated[str, Query(max_length=1000, pattern=NO_NUL)] = "",
) -> DatasetQueries:
    """List queries with their judgments; *q* is in the text or the key, whatever the case."""
    dataset = serving.store.datasets.get(str(dataset_id), owner=caller.sees)
    gold = serving.gold(dataset.gold)
    wanted = q.lower()
    found = [
        query
        for query in gold.queries()
        if wanted in query.text.lower() or wanted in query.id.lower()
    ]
    first = paging.part["offset"]
    return DatasetQueries(
        queries=list(map(_query, found[first : first + paging.per_page])),
        total=len(found),
        **paging._asdict(),
    )


def _dataset(found: BenchmarkDataset) -> Dataset:
    return Dataset(
        id=UUID(found.id),
        name=found.name,
        description=found.description,
        owner_id=found.owner,
        query_count=found.queries,
        schema_version=found.schema_version,
        created_at=found.created,
        updated_at=found.updated,
        version=found.version,
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
