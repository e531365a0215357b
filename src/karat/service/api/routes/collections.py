"""Collections: made from a folder, a repository, a BEIR corpus or an upload; read and searched."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from karat.errors import InputError
from karat.service.api.collection_view import begin_indexing, forget, shown
from karat.service.api.failures import failures
from karat.service.api.routes.archives import FORM
from karat.service.api.schemas.base import NO_NUL
from karat.service.api.schemas.collections import (
    BeirSource,
    Collection,
    CollectionCreate,
    Collections,
    CollectionSearch,
    CollectionSearched,
    Document,
    Documents,
    DocumentText,
    FoundHit,
    GitSource,
    Health,
    ModeHits,
)
from karat.service.api.state import Asking, Caller, Paged, Service, Serving
from karat.service.collections import (
    allowed_folder,
    check_cutting,
    check_model,
    collection_spec,
    health_of,
    not_indexed,
    pinned_commit,
    source_now,
)
from karat.service.observability.correlation import correlation_id
from karat.service.store import Collection as Kept

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/collections", tags=["collections"])

MOST_TEXT = 4_000
MOST_QUERIES = 100
Path = Annotated[str, Query(min_length=1, max_length=4096, pattern=NO_NUL)]


@router.post("", status_code=201, responses=failures(400, 408, 413), openapi_extra=FORM)
def create_collection(serving: Serving, caller: Asking, asked: CollectionCreate) -> Collection:
    """Make a collection of documents that the service can reach, or of an archive sent as a form.

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
        source={**source.model_dump(), **pinned},
        index=asked.index.model_dump(),
    )
    return begin_indexing(serving, caller, made)


@router.get("", responses=failures())
def list_collections(serving: Serving, caller: Asking, paging: Paged) -> Collections:
    """List collections, the newest first."""
    found = serving.store.collections.page(owner=caller.sees, **paging.part)
    return Collections(
        collections=list(map(shown, found.items)), total=found.total, **paging._asdict()
    )


@router.get("/{collection_id}", responses=failures(404))
def get_collection(serving: Serving, caller: Asking, collection_id: UUID) -> Collection:
    """Return one collection with the state of its index."""
    return shown(_owned(serving, caller, collection_id))


@router.delete("/{collection_id}", status_code=204, responses=failures(404, 409))
def delete_collection(serving: Serving, caller: Asking, collection_id: UUID) -> None:
    """Delete a collection, unless a dataset is mapped to it; of documents only uploaded ones."""
    forget(serving, _owned(serving, caller, collection_id))


@router.post("/{collection_id}/reindex", status_code=202, responses=failures(404, 409))
def reindex_collection(serving: Serving, caller: Asking, collection_id: UUID) -> Collection:
    """Index a collection once more, whose folder has changed or whose branch has moved on.

    A job does it. Mappings to documents that have changed must be resolved again; results stay
    those of the documents that they were measured on.
    """
    kept = _owned(serving, caller, collection_id)
    again = serving.store.collections.reindex(
        kept.id,
        source=source_now(kept, serving.settings.roots),
        owner=caller.owner,
        correlation=correlation_id(),
        most=serving.most_jobs(caller),
    )
    return shown(again)


@router.get("/{collection_id}/documents", responses=failures(404))
def list_documents(
    serving: Serving,
    caller: Asking,
    collection_id: UUID,
    paging: Paged,
    q: Annotated[str, Query(max_length=1000, pattern=NO_NUL)] = "",
) -> Documents:
    """List documents by path; *q* is a part of it, whatever the case."""
    kept = _owned(serving, caller, collection_id)
    found = serving.store.collections.documents(kept.id, contains=q, **paging.part)
    documents = [Document(**document._asdict()) for document in found.items]
    return Documents(documents=documents, total=found.total, **paging._asdict())


@router.get("/{collection_id}/documents/content", responses=failures(400, 404, 409))
def read_document(
    serving: Serving, caller: Asking, collection_id: UUID, path: Path
) -> DocumentText:
    """Return the text of a document, found by the path that the list gives."""
    corpus = serving.searchers.corpus(_indexed(serving, caller, collection_id))
    text = corpus.read(path)
    return DocumentText(path=path, text=text, language=corpus.by_path[path].language)


@router.get("/{collection_id}/health", response_model=Health, responses=failures(400, 404, 409))
async def collection_health(serving: Serving, caller: Asking, collection_id: UUID) -> Response:
    """Say what the index holds that no search will find, or that is there twice."""
    kept = await run_in_threadpool(_indexed, serving, caller, collection_id)
    golds = await run_in_threadpool(serving.store.mappings.golds, kept.id)
    body = await serving.answers.get(
        f"health {kept.id} {kept.snapshot} {golds}",
        lambda: run_in_threadpool(_health, serving, kept, golds),
    )
    return Response(body, media_type="application/json")


@router.post("/{collection_id}/search", responses=failures(400, 404, 409))
def search_collection(
    serving: Serving, caller: Asking, collection_id: UUID, asked: CollectionSearch
) -> CollectionSearched:
    """Ask one query in several modes, side by side."""
    kept = _indexed(serving, caller, collection_id)
    for mode in asked.modes:
        collection_spec(kept, mode)
    results = []
    for mode in asked.modes:
        hits, search_ns = serving.searchers.search(
            kept, asked.query, mode, use_reranker=asked.use_reranker, top_k=asked.top_k
        )
        corpus = serving.searchers.corpus(kept)
        texts = {hit.path: corpus.read(hit.path).split("\n") for hit in hits}
        found = [
            FoundHit(
                path=hit.path,
                start_line=hit.start_line,
                end_line=hit.end_line,
                symbol=hit.symbol,
                score=hit.score,
                text=_excerpt(texts[hit.path], hit.start_line, hit.end_line),
            )
            for hit in hits
        ]
        results.append(ModeHits(mode=mode, hits=found, search_time_ms=search_ns / 1e6))
    return CollectionSearched(query=asked.query, results=results)


def _owned(serving: Service, caller: Caller, collection_id: UUID) -> Kept:
    return serving.store.collections.get(str(collection_id), owner=caller.sees)


def _indexed(serving: Service, caller: Caller, collection_id: UUID) -> Kept:
    kept = _owned(serving, caller, collection_id)
    if kept.status != "ready":
        raise not_indexed(kept)
    return kept


def _health(serving: Service, kept: Kept, golds: Sequence[str]) -> bytes:
    """Return the health that indexing has found, or anew with some queries of *golds*."""
    found: Any = kept.facts.get("health")
    if golds or not found:
        texts = [text for digest in golds for text in serving.gold(digest).texts]
        corpus = serving.searchers.corpus(kept)
        found = health_of(kept, corpus, queries=texts[:MOST_QUERIES])
    return (
        Health.model_validate(
            {
                **{
                    name: found[name]
                    for name in ("engine", "queries", "healthy", "flaws", "fallbacks")
                },
                "document_count": found["documents"],
                "chunk_count": found["chunks"],
                "skipped": kept.facts.get("skipped", {}),
            }
        )
        .model_dump_json()
        .encode()
    )


def _excerpt(lines: list[str], start: int, end: int) -> str:
    shown = lines[start - 1 : end] if start else lines
    return "\n".join(shown)[:MOST_TEXT]
