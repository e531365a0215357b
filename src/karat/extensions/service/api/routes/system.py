"""The service itself: health, metrics, the caller, its engines, and search by name."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from karat.app.index import model_installs
from karat.errors import KaratError
from karat.extensions.ndcg.evaluator import NDCGEvaluator
from karat.extensions.service.api.auth import COOKIE
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import Caller, CurrentCaller, CurrentService, Service
from karat.extensions.service.benchmarks import DEFAULT_RERANKER, kind_of
from karat.extensions.service.metrics import CONTENT_TYPE_LATEST
from karat.extensions.service.schemas.base import (
    NO_NUL,
    Choices,
    EmbeddingModel,
    Jump,
    Jumps,
    Limits,
    Live,
    Me,
    Ready,
)
from karat.extensions.service.schemas.collections import Engine, Engines
from karat.extensions.service.schemas.results import (
    Definitions,
    Evaluate,
    EvaluationScores,
    RankedItem,
)
from karat.installation import __version__
from karat.report.page.results import definitions

router = APIRouter(tags=["system"])
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz")
async def healthz() -> Live:
    """Return whether the process is alive."""
    return Live(status="ok")


@router.get("/readyz", responses={503: {"model": Ready}})
async def readyz(serving: CurrentService, response: Response) -> Ready:
    """Return whether the database answers, and whether the disks have free space."""
    problems = {"database": "", "disk": await run_in_threadpool(serving.disk.problem)}
    try:
        await run_in_threadpool(serving.store.active_runs)
    except KaratError:
        problems["database"] = "does not answer"
    ready = not any(problems.values())
    if not ready:
        response.status_code = 503
    return Ready(
        status="ready" if ready else "not ready",
        checks={name: problem or "ready" for name, problem in problems.items()},
    )


@router.get("/metrics", response_class=Response, responses={**failures(), **TEXT})
async def metrics(serving: CurrentService) -> Response:
    """Return the metrics of this process for Prometheus."""
    active = await run_in_threadpool(serving.store.active_runs)
    serving.metrics.active_runs.set(active)
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/v2/me", responses=failures())
async def me(serving: CurrentService, caller: CurrentCaller) -> Me:
    """Return the caller, its scopes, and the limits of this service."""
    limits, choices = serving.settings.limits, serving.settings.choices
    installed = [name for name, install in model_installs().items() if not install]
    return Me(
        owner_id=caller.owner,
        shared=serving.shared,
        scopes=list(caller.scopes),
        authenticated=bool(caller.token),
        version=__version__,
        roots=[str(root) for root in serving.settings.roots],
        models=[
            EmbeddingModel(name=name, installed=not install, install=install)
            for name, install in model_installs().items()
        ],
        choices=Choices(
            models=[*installed, *choices.models],
            rerankers=[DEFAULT_RERANKER, *choices.rerankers],
            contexts=list(choices.contexts),
        ),
        limits=Limits(
            upload_bytes=limits.files.upload_bytes,
            upload_queries=limits.files.upload_queries,
            upload_judgments=limits.files.upload_judgments,
            archive_bytes=limits.archive_bytes,
            active_jobs=limits.active_jobs,
            runs=limits.runs,
            runs_warned=limits.runs_warned,
        ),
    )


@router.get("/api/v2/definitions", responses=failures())
async def get_definitions(_: CurrentCaller) -> Definitions:
    """Return what each metric and each loss reason means."""
    return Definitions.model_validate(definitions())


@router.post("/api/v2/session", status_code=204, responses=failures())
async def open_session(request: Request, response: Response) -> None:
    """Open a session: the token of this request becomes a cookie that scripts cannot read.

    A browser sends no header of its own with an event stream or a WebSocket.
    """
    _, _, secret = request.headers.get("authorization", "").partition(" ")
    if secret:
        # A client that forges the header only loses its own cookie.
        spoken = request.headers.get("x-forwarded-proto", request.url.scheme)
        response.set_cookie(
            COOKIE,
            secret.strip(),
            httponly=True,
            samesite="strict",
            secure=spoken == "https",
        )


@router.delete("/api/v2/session", status_code=204, responses=failures())
async def close_session(response: Response) -> None:
    """Close the session and delete its cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


engines_router = APIRouter(prefix="/api/v2/engines", tags=["engines"])


@engines_router.get("", responses=failures())
async def list_engines(serving: CurrentService) -> Engines:
    """List the engines that the service was started with, by the names for a matrix."""
    offered = serving.settings.engines
    return Engines(
        engines=[Engine(name=name, kind=kind_of(spec)) for name, spec in offered.items()]
    )


evaluation_router = APIRouter(prefix="/api/v2", tags=["evaluation"])


@evaluation_router.post("/evaluate", responses=failures(400))
def evaluate(asked: Evaluate, serving: CurrentService) -> EvaluationScores:
    """Return the NDCG of a ranking at each cut-off, and of a second ranking if there is one."""
    evaluator = NDCGEvaluator(
        k_values=asked.k_values, prometheus=True, registry=serving.metrics.registry
    )
    first = _items(asked.ranked_items)
    if asked.improved is None:
        scores = evaluator.evaluate_ranking(first, asked.judgments)
        return EvaluationScores(metrics=scores, improved=None, improvement=None)
    both = evaluator.compare_rankings(first, _items(asked.improved), asked.judgments)
    return EvaluationScores(
        metrics=both["baseline"], improved=both["improved"], improvement=both["improvement"]
    )


def _items(items: list[RankedItem]) -> list[dict[str, object]]:
    return [item.model_dump(exclude_none=True) for item in items]


search_router = APIRouter(prefix="/api/v2", tags=["system"])

MOST_RESULTS = 20
# Maximum number of searched objects of each kind, newest first, and of datasets for queries.
MOST_LOOKED_AT = 500
DATASETS_SEARCHED = 5
# A name such as "hybrid @10" is that of a run in every benchmark, and in many a query.
MOST_OF_A_KIND = 10
BENCHMARKS_SEARCHED = 20


@search_router.get("/search", responses=failures())
def jump(
    serving: CurrentService,
    caller: CurrentCaller,
    q: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)],
) -> Jumps:
    """Find benchmarks, datasets and collections by name or id, then queries and runs.

    Queries are found by text or key, runs by name or id in the newest benchmarks.
    """
    text = q.strip().lower()
    named = (item for item in _named(serving, caller) if _fits(text, item))
    jumps = list(islice(named, MOST_RESULTS))
    for kind in (_query_jumps, _run_jumps):
        fitting = (item for item in kind(serving, caller) if _fits(text, item))
        jumps += islice(fitting, min(MOST_OF_A_KIND, MOST_RESULTS - len(jumps)))
    return Jumps(results=jumps)


def _fits(text: str, item: Jump) -> bool:
    return text in item.title.lower() or item.id.lower().startswith(text)


def _named(serving: Service, caller: Caller) -> Iterator[Jump]:
    store, owner = serving.store, caller.sees
    for benchmark in store.benchmarks.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("benchmark", benchmark.id, benchmark.name, benchmark.status)
    for dataset in store.datasets.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("dataset", dataset.id, dataset.name, f"{dataset.queries} queries")
    for collection in store.collections.page(owner=owner, limit=MOST_LOOKED_AT).items:
        yield _jump("collection", collection.id, collection.name, collection.status)


def _query_jumps(serving: Service, caller: Caller) -> Iterator[Jump]:
    for dataset in serving.store.datasets.page(owner=caller.sees, limit=DATASETS_SEARCHED).items:
        gold = serving.gold(dataset.gold)
        for query_id, text in zip(gold.query_ids, gold.texts, strict=True):
            yield _jump("query", query_id, text, dataset.id)


def _run_jumps(serving: Service, caller: Caller) -> Iterator[Jump]:
    store = serving.store
    benchmarks = store.benchmarks.page(owner=caller.sees, limit=BENCHMARKS_SEARCHED).items
    for benchmark in benchmarks:
        for run in store.results.completed(benchmark.experiment) if benchmark.experiment else ():
            yield _jump("run", run.id, f"{run.label} of {benchmark.name}", benchmark.id)


def _jump(kind: str, name: str, title: str, detail: str) -> Jump:
    return Jump.model_validate({"kind": kind, "id": name, "title": title, "detail": detail})
