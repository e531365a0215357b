"""Jump to anything by a few letters of its name."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query

from karat.service.api.failures import failures
from karat.service.api.schemas.base import NO_NUL
from karat.service.api.schemas.system import Jump, Jumps
from karat.service.api.state import Asking, Caller, Service, Serving

__all__ = ["router"]

router = APIRouter(prefix="/api/v2", tags=["system"])

MOST_RESULTS = 20
# So many of each kind are looked at, the newest first; in so many datasets for queries.
MOST_LOOKED_AT = 500
DATASETS_SEARCHED = 5
# A name such as "hybrid @10" is that of a run in every benchmark, and in many a query.
MOST_OF_A_KIND = 10
BENCHMARKS_SEARCHED = 20


@router.get("/search", responses=failures())
def jump(
    serving: Serving,
    caller: Asking,
    q: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)],
) -> Jumps:
    """Find benchmarks, datasets and collections by name or id, then queries and runs.

    Queries are found by text or key, runs by name or id in the newest benchmarks.
    """
    wanted = q.strip().lower()
    named = (item for item in _named(serving, caller) if _fits(wanted, item))
    found = list(islice(named, MOST_RESULTS))
    for kind in (_queries, _runs):
        fitting = (item for item in kind(serving, caller) if _fits(wanted, item))
        found += islice(fitting, min(MOST_OF_A_KIND, MOST_RESULTS - len(found)))
    return Jumps(results=found)


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


def _runs(serving: Service, caller: Caller) -> Iterator[Jump]:
    store = serving.store
    found = store.benchmarks.page(owner=caller.sees, limit=BENCHMARKS_SEARCHED).items
    for benchmark in found:
        for run in store.results.completed(benchmark.experiment) if benchmark.experiment else ():
            yield _jump("run", run.id, f"{run.label} of {benchmark.name}", benchmark.id)


def _jump(kind: str, name: str, title: str, detail: str) -> Jump:
    return Jump.model_validate({"kind": kind, "id": name, "title": title, "detail": detail})
