"""Judgments: grades given by hand; each makes a version of the dataset, and none is lost."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from karat.errors import UnknownName
from karat.extensions.service.analysts.pool import Priority
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import (
    NOT_MODIFIED,
    Caller,
    CurrentCaller,
    CurrentService,
    KnownVersions,
    RequestedPage,
    Service,
    VersionedBenchmark,
    find,
)
from karat.extensions.service.judging_pool import HitOrder, grade_at
from karat.extensions.service.schemas.datasets import (
    JudgmentChange,
    JudgmentEdit,
    JudgmentHistory,
    Judgments,
    UnjudgedHits,
)
from karat.extensions.service.store import BenchmarkDataset, JudgmentChangeRequest, StoredJudgment

router = APIRouter(prefix="/api/v2/benchmark-datasets/{dataset_id}", tags=["judgments"])


def _pooled(
    serving: CurrentService,
    caller: CurrentCaller,
    dataset_id: UUID,
    benchmark: UUID | None = None,
    if_none_match: KnownVersions = None,
) -> VersionedBenchmark:
    """Return the benchmark whose hits are judged, by default the newest with results."""
    dataset = _dataset(serving, caller, dataset_id)
    if benchmark is None:
        newest = serving.store.benchmarks.page(owner=caller.sees, dataset=dataset.id, limit=100)
        done = (each.id for each in newest.items if each.completed_runs)
        benchmark = next(map(UUID, done), None)
    if benchmark is None:
        raise UnknownName(f"no benchmark on dataset {dataset_id} has a completed run")
    versioned = find(serving, caller, benchmark, if_none_match)
    if versioned.benchmark.dataset != dataset.id:
        raise UnknownName(f"no benchmark {benchmark} on dataset {dataset_id}")
    return versioned


@router.get(
    "/unjudged", response_model=UnjudgedHits, responses={**failures(404, 409), **NOT_MODIFIED}
)
async def list_unjudged(
    serving: CurrentService,
    versioned: Annotated[VersionedBenchmark, Depends(_pooled)],
    paging: RequestedPage,
    order: Annotated[
        HitOrder,
        Query(
            description="rank: the best ranked hits first. sample: whole queries in random order; "
            "any number of the first ones is a stratified random sample"
        ),
    ] = "rank",
) -> Response:
    """List the unjudged hits of a benchmark, by default the newest."""
    asked: dict[str, Any] = {
        "benchmark": versioned.benchmark.id,
        **paging._asdict(),
        "order": order,
    }
    return await versioned.answered(
        serving,
        f"unjudged {asked}",
        lambda: serving.analysts.request(
            "unjudged",
            subject=f"judging {versioned.benchmark.id}",
            owner=versioned.share,
            priority=Priority.INTERACTIVE,
            **asked,
        ),
    )


@router.put("/judgments", responses=failures(404, 409))
def put_judgment(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, asked: JudgmentEdit
) -> Judgments:
    """Grade lines of a document; 409 if another judgment was made since *version*."""
    dataset = _dataset(serving, caller, dataset_id)
    lines = {"start_line": asked.start_line or 0, "end_line": asked.end_line or 0}
    edit = JudgmentChangeRequest(
        asked.query_id,
        asked.path,
        float(asked.grade),
        **lines,
        before=_grade(serving, dataset, asked, **lines),
        reason=asked.reason,
    )
    made = serving.store.judgments.put(dataset.id, edit, version=asked.version, author=caller.owner)
    return Judgments(version=made.version, change=_change(made))


@router.delete("/judgments", responses=failures(404, 409))
def undo_judgment(serving: CurrentService, caller: CurrentCaller, dataset_id: UUID) -> Judgments:
    """Undo the newest judgment that is valid; the history has both."""
    dataset = _dataset(serving, caller, dataset_id)
    made = serving.store.judgments.undo(dataset.id, author=caller.owner)
    return Judgments(version=made.version, change=_change(made))


@router.get("/judgments/history", responses=failures(404))
def list_history(
    serving: CurrentService, caller: CurrentCaller, dataset_id: UUID, paging: RequestedPage
) -> JudgmentHistory:
    """List all changes, the newest first."""
    dataset = _dataset(serving, caller, dataset_id)
    page = serving.store.judgments.page(dataset.id, **paging.part)
    return JudgmentHistory(
        version=dataset.version,
        changes=list(map(_change, page.items)),
        total=page.total,
        **paging._asdict(),
    )


def _dataset(serving: Service, caller: Caller, dataset_id: UUID) -> BenchmarkDataset:
    return serving.store.datasets.get(str(dataset_id), owner=caller.sees)


def _grade(
    serving: Service, dataset: BenchmarkDataset, asked: JudgmentEdit, **lines: int
) -> float | None:
    """Return the current grade of the place; UnknownName for an unknown query."""
    store = serving.store
    gold = serving.gold(store.mappings.newest_gold(dataset.id) or dataset.gold)
    if asked.query_id not in gold.query_ids:
        raise UnknownName(f"dataset {dataset.id} has no query {asked.query_id!r}")
    history = store.judgments.of_query(dataset.id, asked.query_id)
    return grade_at(gold, asked.query_id, asked.path, **lines, judgments=history)


def _change(made: StoredJudgment) -> JudgmentChange:
    return JudgmentChange(
        version=made.version,
        query_id=made.query,
        path=made.path,
        start_line=made.start_line or None,
        end_line=made.end_line or None,
        before=made.before,
        grade=made.grade,
        reason=made.reason,
        owner_id=made.author,
        created_at=made.created,
    )
