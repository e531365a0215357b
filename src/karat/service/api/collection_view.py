"""Collections as they are sent."""

import shutil
from typing import Any

from karat.errors import TooManyJobs
from karat.service.api.schemas.collections import Collection, IndexOptions
from karat.service.api.state import Caller, Service
from karat.service.store import Collection as Kept
from karat.service.store import JobKind

__all__ = ["begin_indexing", "forget", "shown"]


def begin_indexing(serving: Service, caller: Caller, made: Kept) -> Collection:
    """Queue the indexing of a new collection and return it; one without a job is not kept."""
    try:
        serving.begin(JobKind.INDEX, made.id, caller)
    except TooManyJobs:
        forget(serving, made)
        raise
    return shown(serving.store.collections.get(made.id))


def forget(serving: Service, kept: Kept) -> None:
    """Delete a collection; of documents only uploaded ones."""
    serving.store.collections.delete(kept.id)
    shutil.rmtree(serving.settings.places.uploads / kept.id, ignore_errors=True)


def shown(kept: Kept) -> Collection:
    """Return a collection as it is sent."""
    index = IndexOptions.model_validate(dict(kept.index))
    facts: dict[str, Any] = dict(kept.facts)
    dense: dict[str, Any] = facts.get("dense") or {}
    return Collection.model_validate(
        {
            "id": kept.id,
            "name": kept.name,
            "description": kept.description,
            "owner_id": kept.owner,
            "source": {name: kept.source.get(name) for name in ("kind", "path", "revision")},
            "status": kept.status,
            "error_message": kept.error or None,
            "chunker": index.chunker,
            "dense": {
                "state": kept.status if index.dense else "none",
                "model": index.model if index.dense else None,
                "dimension": dense.get("dimension"),
                "vectors": dense.get("vectors"),
            },
            "sparse": {"state": kept.status if index.sparse else "none"},
            "document_count": facts.get("documents", 0),
            "chunk_count": facts.get("chunks", 0),
            "snapshot": kept.snapshot or None,
            "created_at": kept.created,
            "updated_at": kept.updated,
            "operation_uuid": kept.operation,
        }
    )
