"""The example benchmark: a bundled web shop with mined queries, created by one request."""

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import TypeVar

from fastapi import APIRouter

from karat.extensions.mining.demo import NAME, first_version, has_embeddings
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.routes.collections import begin_indexing
from karat.extensions.service.api.state import Caller, CurrentCaller, CurrentService, Service
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.collections import UPLOAD, not_indexed
from karat.extensions.service.datasets import SCHEMA_VERSION, resolve_mapping
from karat.extensions.service.logs import correlation_id
from karat.extensions.service.progress import BENCHMARK_EVENT, standing
from karat.extensions.service.schemas.benchmarks import ConfigMatrix, Example
from karat.extensions.service.schemas.collections import IndexOptions
from karat.extensions.service.store import Benchmark, BenchmarkDataset, Collection, DatasetMapping
from karat.extensions.service.store.records import Page
from karat.system.files import write_text

router = APIRouter(prefix="/api/v2/examples", tags=["examples"])

TITLE = "Example: Kiosk, a small web shop"
ABOUT = "Bundled with Karat. Delete it whenever you like; it can be created again."
QUESTION = "Example: which search mode finds the file to change?"
# Two requests at once must not create the example twice.
_creating = Lock()


@router.post("", responses=failures(400, 409))
def create_example(serving: CurrentService, caller: CurrentCaller) -> Example:
    """Create the example benchmark, and start it as soon as its documents are indexed.

    The request is idempotent: repeat it until *status* is not ``indexing``. Existing parts are
    reused, and deleted ones are created again.
    """
    with _creating:
        collection = _collection(serving, caller)
        dataset = _dataset(serving, caller)
        mapping = _mapping(serving, dataset, collection)
        benchmark = _benchmark(serving, caller, mapping)
        if collection.status == "failed":
            raise not_indexed(collection)
        if collection.status == "ready" and benchmark.status == "pending":
            benchmark = _start(serving, caller, mapping, benchmark)
    return Example(
        collection_id=collection.id,
        dataset_id=dataset.id,
        mapping_id=mapping.id,
        benchmark_id=benchmark.id,
        status="indexing" if collection.status != "ready" else benchmark.current_status,
    )


Item = TypeVar("Item")
PER_PAGE = 100


def _all(page: Callable[..., Page[Item]]) -> Iterator[Item]:
    """Yield the items on all pages."""
    offset = 0
    while items := page(limit=PER_PAGE, offset=offset).items:
        yield from items
        offset += PER_PAGE


def _collection(serving: Service, caller: Caller) -> Collection:
    store = serving.store.collections
    for known in _all(partial(store.page, owner=serving.own(caller))):
        if known.source.get("example") == NAME:
            return known
    serving.check_quota(caller)
    made = store.add(
        caller.owner,
        TITLE,
        description=ABOUT,
        source={"kind": UPLOAD, "example": NAME},
        index=IndexOptions(model="static", dense=has_embeddings()).model_dump(),
    )
    folder = serving.settings.folders.uploads / made.id
    for path, text in first_version().files.items():
        target = folder / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(target, text)
    begin_indexing(serving, caller, made)
    return store.get(made.id)


def _dataset(serving: Service, caller: Caller) -> BenchmarkDataset:
    store = serving.store.datasets
    for known in _all(partial(store.page, owner=serving.own(caller))):
        if (known.name, known.description) == (TITLE, ABOUT):
            return known
    gold = first_version().gold
    return store.add(
        caller.owner, TITLE, description=ABOUT, gold=gold, schema_version=SCHEMA_VERSION
    )


def _mapping(serving: Service, dataset: BenchmarkDataset, collection: Collection) -> DatasetMapping:
    store = serving.store.mappings
    for known in _all(partial(store.page, dataset.id)):
        if known.collection == collection.id:
            return known
    return store.add(dataset.id, collection.id)


def _benchmark(serving: Service, caller: Caller, mapping: DatasetMapping) -> Benchmark:
    store = serving.store.benchmarks
    for known in _all(partial(store.page, owner=serving.own(caller))):
        if known.mapping == mapping.id and known.name == QUESTION:
            return known
    dense = serving.store.collections.get(mapping.collection).index["dense"]
    matrix = ConfigMatrix(search_modes=["sparse", "dense", "hybrid"] if dense else ["sparse"])
    config = BenchmarkConfig(matrix.model_dump())
    return store.add(
        caller.owner,
        QUESTION,
        description=ABOUT,
        mapping=mapping.id,
        config=config.to_json(),
        total_runs=config.matrix_for().count(),
    )


def _start(
    serving: Service, caller: Caller, mapping: DatasetMapping, benchmark: Benchmark
) -> Benchmark:
    store = serving.store
    if mapping.status == "pending":
        resolve_mapping(store, mapping.id, serving.settings.folders)
    started = store.benchmarks.start(
        benchmark.id, correlation=correlation_id(), most=serving.most_jobs(caller)
    )
    if started.operation:
        store.events.add(
            started.operation, started.id, BENCHMARK_EVENT, standing(started, "pending")
        )
    return started
