"""Collections: documents from folders, Git repositories, BEIR corpora and uploaded archives."""

import shutil
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Query, Response, UploadFile
from fastapi.routing import APIRoute
from pydantic import Json
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from karat.app.corpora import FileSelection
from karat.app.index import check_cutting, check_model, pinned_commit
from karat.errors import InputError, TooManyJobs
from karat.experiments.workers.sources import is_bare
from karat.extensions.service.analysts.pool import Priority
from karat.extensions.service.analysts.warm_up import search_subject
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.routes.datasets import keep, only
from karat.extensions.service.api.state import (
    Caller,
    CurrentCaller,
    CurrentService,
    RequestedPage,
    Service,
)
from karat.extensions.service.archives import ArchiveLimits, unpack
from karat.extensions.service.collections import (
    UPLOAD,
    allowed_folder,
    collection_spec,
    not_indexed,
    source_now,
)
from karat.extensions.service.logs import correlation_id
from karat.extensions.service.schemas.base import NO_NUL, Description, Name
from karat.extensions.service.schemas.collections import (
    BeirSource,
    Collection,
    CollectionCreate,
    CollectionFiles,
    Collections,
    CollectionSearch,
    CollectionSearchResult,
    Document,
    Documents,
    DocumentText,
    GitSource,
    Health,
    IndexOptions,
)
from karat.extensions.service.store import Collection as StoredCollection
from karat.extensions.service.store import JobKind


def begin_indexing(serving: Service, caller: Caller, collection: StoredCollection) -> Collection:
    """Queue the indexing of a new collection and return it; without a job it is deleted."""
    try:
        serving.begin(JobKind.INDEX, collection.id, caller)
    except TooManyJobs:
        forget(serving, collection)
        raise
    return _collection(serving.store.collections.get(collection.id))


def forget(serving: Service, collection: StoredCollection) -> None:
    """Delete a collection and its uploaded documents."""
    serving.store.collections.delete(collection.id)
    shutil.rmtree(serving.settings.folders.uploads / collection.id, ignore_errors=True)


def _collection(stored: StoredCollection) -> Collection:
    """Return a collection as it is sent."""
    index = IndexOptions.model_validate(dict(stored.index))
    facts: dict[str, Any] = dict(stored.facts)
    dense: dict[str, Any] = facts.get("dense") or {}
    return Collection.model_validate(
        {
            "id": stored.id,
            "name": stored.name,
            "description": stored.description,
            "owner_id": stored.owner,
            "source": {
                **{name: stored.source.get(name) for name in ("kind", "path", "revision")},
                "files": stored.source.get("files") or {},
            },
            "status": stored.status,
            "error_message": stored.error or None,
            "chunker": index.chunker,
            "dense": {
                "state": stored.status if index.dense else "none",
                "model": index.model if index.dense else None,
                "dimension": dense.get("dimension"),
                "vectors": dense.get("vectors"),
            },
            "sparse": {"state": stored.status if index.sparse else "none"},
            "document_count": facts.get("documents", 0),
            "chunk_count": facts.get("chunks", 0),
            "snapshot": stored.snapshot or None,
            "created_at": stored.created,
            "updated_at": stored.updated,
            "operation_uuid": stored.operation,
        }
    )


# The unpacked size is known too late.
PACKED = "corpus.jsonl.gz"


class MultipartRoute(APIRoute):
    """A route for forms only; JSON that is sent to the same path is for another one."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match multipart requests only."""
        if not Headers(scope=scope).get("content-type", "").startswith("multipart/form-data"):
            return Match.NONE, {}
        return super().matches(scope)


archives_router = APIRouter(prefix="/api/v2/collections", route_class=MultipartRoute)

# Described with the route for JSON, since a path and a method have one description.
FORM: dict[str, Any] = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "name"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "name": {"type": "string", "minLength": 1, "maxLength": 255},
                        "description": {"type": "string", "maxLength": 2000},
                        "index": {"type": "string", "contentMediaType": "application/json"},
                        "files": {"type": "string", "contentMediaType": "application/json"},
                    },
                }
            }
        }
    }
}


@archives_router.post(
    "",
    status_code=201,
    include_in_schema=False,
    dependencies=[only("file", "name", "description", "index", "files")],
)
def upload_collection(
    serving: CurrentService,
    caller: CurrentCaller,
    *,
    file: UploadFile,
    name: Annotated[Name, Form()],
    description: Annotated[Description, Form()] = "",
    index: Annotated[Json[IndexOptions], Form()] = IndexOptions(),  # noqa: B008 - it is frozen
    files: Annotated[Json[CollectionFiles], Form()] = CollectionFiles(),  # noqa: B008 - so is it
) -> Collection:
    """Create a collection from a zip, tar or tar.gz file; a job indexes its documents."""
    serving.check_quota(caller)
    check_cutting(index.chunker)
    if index.dense:
        check_model(index.model)
    selected = _files(files)
    limits = serving.settings.limits
    bounds = ArchiveLimits(limits.unpacked_bytes, limits.archive_files, limits.archive_ratio)
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        archive = keep(file.file, None, folder)
        made = serving.store.collections.add(
            caller.owner,
            name,
            description=description,
            source={"kind": UPLOAD, **selected},
            index=index.model_dump(),
        )
        target = serving.settings.folders.uploads / made.id
        try:
            unpack(archive, target, bounds)
            if is_bare(target):
                raise InputError("the archive is a Git repository; expected its files")
            if (target / PACKED).exists():
                raise InputError(f"the archive holds {PACKED}; expected corpus.jsonl as plain text")
        except BaseException:
            forget(serving, made)
            raise
    return begin_indexing(serving, caller, made)


router = APIRouter(prefix="/api/v2/collections", tags=["collections"])

Path = Annotated[str, Query(min_length=1, max_length=4096, pattern=NO_NUL)]


@router.post("", status_code=201, responses=failures(400, 408, 413), openapi_extra=FORM)
def create_collection(
    serving: CurrentService, caller: CurrentCaller, asked: CollectionCreate
) -> Collection:
    """Create a collection from documents on the service's machine, or from an uploaded archive.

    A job indexes them.
    """
    source = asked.source
    check_cutting(asked.index.chunker)
    if asked.index.dense:
        check_model(asked.index.model)
    folder = allowed_folder(source.path, serving.settings.roots)
    if isinstance(source, BeirSource):
        for name in ("corpus.jsonl", "queries.jsonl"):
            if not (folder / name).is_file():
                raise InputError(f"{source.path!r} holds no {name}; expected a BEIR folder")
    pinned = {"path": str(folder)}
    if isinstance(source, GitSource):
        pinned["asked"] = source.revision
        pinned["revision"] = pinned_commit(folder, source.revision)
    made = serving.store.collections.add(
        caller.owner,
        asked.name,
        description=asked.description,
        source={**source.model_dump(), **pinned, **_files(asked.files)},
        index=asked.index.model_dump(),
    )
    return begin_indexing(serving, caller, made)


def _files(asked: CollectionFiles) -> dict[str, object]:
    """Return the selection of files for the store, nothing for all files."""
    selection = FileSelection(asked.kind, tuple(asked.include), tuple(asked.exclude))
    selection.check()
    return {"files": selection.to_json()} if selection.to_json() else {}


@router.get("", responses=failures())
def list_collections(
    serving: CurrentService, caller: CurrentCaller, paging: RequestedPage
) -> Collections:
    """List collections, the newest first."""
    page = serving.store.collections.page(owner=caller.sees, **paging.part)
    return Collections(
        collections=list(map(_collection, page.items)), total=page.total, **paging._asdict()
    )


@router.get("/{collection_id}", responses=failures(404))
async def get_collection(
    serving: CurrentService, caller: CurrentCaller, collection_id: UUID
) -> Collection:
    """Return one collection with the state of its index; the service then loads it for searches."""
    collection = await run_in_threadpool(_owned, serving, caller, collection_id)
    if serving.warm_up:
        serving.warm_up.add(collection)
    return _collection(collection)


@router.delete("/{collection_id}", status_code=204, responses=failures(404, 409))
def delete_collection(serving: CurrentService, caller: CurrentCaller, collection_id: UUID) -> None:
    """Delete a collection and its uploaded documents, unless a dataset is mapped to it."""
    forget(serving, _owned(serving, caller, collection_id))


@router.post("/{collection_id}/reindex", status_code=202, responses=failures(404, 409))
def reindex_collection(
    serving: CurrentService, caller: CurrentCaller, collection_id: UUID
) -> Collection:
    """Reindex a collection after its folder or its branch has changed.

    A job does it. Mappings to documents that have changed must be resolved again; results stay
    those of the documents that they were measured on.
    """
    collection = _owned(serving, caller, collection_id)
    reindexed = serving.store.collections.reindex(
        collection.id,
        source=source_now(collection, serving.settings.roots),
        owner=caller.owner,
        correlation=correlation_id(),
        most=serving.most_jobs(caller),
    )
    return _collection(reindexed)


@router.get("/{collection_id}/documents", responses=failures(404))
def list_documents(
    serving: CurrentService,
    caller: CurrentCaller,
    collection_id: UUID,
    paging: RequestedPage,
    q: Annotated[str, Query(max_length=1000, pattern=NO_NUL)] = "",
) -> Documents:
    """List documents by path; *q* is a part of the path, ignoring case."""
    collection = _owned(serving, caller, collection_id)
    page = serving.store.collections.documents(collection.id, contains=q, **paging.part)
    documents = [Document(**document._asdict()) for document in page.items]
    return Documents(documents=documents, total=page.total, **paging._asdict())


@router.get("/{collection_id}/documents/content", responses=failures(400, 404, 409))
def read_document(
    serving: CurrentService, caller: CurrentCaller, collection_id: UUID, path: Path
) -> DocumentText:
    """Return the text of the document at a path of the list."""
    corpus = serving.searchers.corpus(_indexed(serving, caller, collection_id))
    text = corpus.read(path)
    return DocumentText(path=path, text=text, language=corpus.by_path[path].language)


@router.get("/{collection_id}/health", response_model=Health, responses=failures(400, 404, 409))
async def collection_health(
    serving: CurrentService, caller: CurrentCaller, collection_id: UUID
) -> Response:
    """Return the waste in an index: empty, duplicate, oversized or never-retrieved chunks."""
    collection = await run_in_threadpool(_indexed, serving, caller, collection_id)
    golds = await run_in_threadpool(serving.store.mappings.golds, collection.id)
    body = await serving.responses.get(
        f"health {collection.id} {collection.snapshot} {golds}",
        lambda: serving.analysts.request(
            "health",
            # A separate subject, so that searches do not wait for it.
            subject=f"health {collection.id} {collection.snapshot}",
            owner=caller.share,
            collection=collection.id,
            golds=list(golds),
        ),
    )
    return Response(body, media_type="application/json")


@router.post(
    "/{collection_id}/search",
    response_model=CollectionSearchResult,
    responses=failures(400, 404, 409),
)
async def search_collection(
    serving: CurrentService, caller: CurrentCaller, collection_id: UUID, asked: CollectionSearch
) -> Response:
    """Run one query in several modes, side by side."""
    collection = await run_in_threadpool(_indexed, serving, caller, collection_id)
    for mode in asked.modes:
        collection_spec(collection, mode)
    subject, options = search_subject(collection), asked.model_dump()
    body = await serving.responses.get(
        f"{subject} {options}",
        lambda: serving.analysts.request(
            "search",
            subject=subject,
            owner=caller.share,
            priority=Priority.INTERACTIVE,
            collection=collection.id,
            **options,
        ),
        keep=False,
    )
    return Response(body, media_type="application/json")


def _owned(serving: Service, caller: Caller, collection_id: UUID) -> StoredCollection:
    return serving.store.collections.get(str(collection_id), owner=caller.sees)


def _indexed(serving: Service, caller: Caller, collection_id: UUID) -> StoredCollection:
    collection = _owned(serving, caller, collection_id)
    if collection.status != "ready":
        raise not_indexed(collection)
    return collection
