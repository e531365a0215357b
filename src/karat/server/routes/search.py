"""Jump to anything by a few letters of its name."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query

from karat.server.failures import failures
from karat.server.schemas.base import NO_NUL
from karat.server.schemas.system import Jump, Jumps
from karat.server.service import Asking, Caller, Service, Serving

__all__ = ["router"]

router = APIRouter(prefix="/api/v2", tags=["system"])

MOST_RESULTS = 20
# So many of each kind are looked at, the newest first; of datasets, in so many for queries.
MOST_LOOKED_AT = 500
DATASETS_SEARCHED = 5


@router.get("/search", responses=failures())
def jump(
    serving: Serving,
    caller: Asking,
    q: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)],
) -> Jumps:
    """Find benchmarks, datasets and collections by name or id, then queries by text or key."""
    wanted = q.strip().lower()
    named = (item for item in _named(serving, caller) if _fits(wanted, item))
    queries = (item for item in _queries(serving, caller) if _fits(wanted, item))
    found = [*islice(named, MOST_RESULTS), *islice(queries, MOST_RESULTS)]
    return Jumps(results=found[:MOST_RESULTS])


def _fits(wanted: str, item: Jump) -> bool:
    return wanted in item.title.lower() or item.id.lower().startswith(wanted)


def _named(serving: Service, caller: Caller) -> Iterator[Jump]:
    store, owner = serving.store, caller.sees
    for benchmark in store.benchmarks.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("benchmark", benchmark.id, benchmark.name, benchmark.status)
    for dataset in store.datasets.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("dataset", dataset.id, dataset.name, f"{dataset.queries} queries")
    for collection in store.collections.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("collection", collection.id, collection.name, collection.status)


def _queries(serving: Service, caller: Caller) -> Iterator[Jump]:
    for dataset in serving.store.datasets.page(owner=caller.sees, limit=DATASETS_SEARCHED).items:
        gold = serving.gold(dataset.gold)
        for query_id, text in zip(gold.query_ids, gold.texts, strict=True):
            yield _jump("query", query_id, text, dataset.id)


def _jump(kind: str, name: str, title: str, detail: str) -> Jump:
    return Jump.model_validate({"kind": kind, "id": name, "title": title, "detail": detail})
