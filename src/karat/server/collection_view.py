"""Collections as they are sent."""

from typing import Any

from karat.server.correlation import correlation_id
from karat.server.schemas.collections import Collection, IndexOptions
from karat.server.service import Caller, Service
from karat.store.service import Collection as Kept
from karat.store.service import JobKind

__all__ = ["begin_indexing", "shown"]


def begin_indexing(serving: Service, caller: Caller, made: Kept) -> Collection:
    """Queue the indexing of a new collection and return it."""
    asked = {"owner": caller.owner, "correlation": correlation_id()}
    serving.store.jobs.add(JobKind.INDEX, made.id, **asked)
    return shown(serving.store.collections.get(made.id))


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
