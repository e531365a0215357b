"""The client reads answers of other versions of the service, or says that it cannot."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from karat.client import Benchmark, BenchmarkStart, RunResult, ServiceError
from karat.extensions.service.client import record
from karat.extensions.service.schemas import results

ID = "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"
MADE = "2026-11-18T09:00:00.250000Z"
# A benchmark as version 0.2 answers it.
BENCHMARK: dict[str, Any] = {
    **dict.fromkeys(("id", "mapping_id", "dataset_id", "collection_id"), ID),
    "name": "Modes",
    "description": "",
    "owner_id": "ada",
    "status": "running",
    "total_runs": 2,
    "completed_runs": 1,
    "failed_runs": 0,
    "created_at": MADE,
    "started_at": MADE,
    "completed_at": None,
    "operation_uuid": ID,
    "commit": {"id": "5d0c8a1", "subject": "Begin", "committed_at": MADE},
    "config_matrix": {"search_modes": ["sparse", "dense"]},
    "timing": "sample",
    "judge_labels": "exclude",
    "warning": None,
    "annotations": [],
}


def test_an_older_service_lacks_fields() -> None:
    benchmark = record(Benchmark, BENCHMARK)
    assert (benchmark.error_message, benchmark.queue_position) == (None, None)
    assert (benchmark.best_run, benchmark.dataset_name, benchmark.collection_name) == (None, "", "")
    assert not benchmark.is_stopping
    assert not benchmark.ended
    assert record(Benchmark, {**BENCHMARK, "status": "cancelled"}).ended


def test_a_newer_service_has_more_fields() -> None:
    commit = {**BENCHMARK["commit"], "author": "Ada"}
    matrix = {**BENCHMARK["config_matrix"], "prefetch": [100]}
    newer = {**BENCHMARK, "commit": commit, "config_matrix": matrix, "tags": ["nightly"]}
    assert record(Benchmark, newer) == record(Benchmark, BENCHMARK)


def test_ids_are_text_and_times_are_moments() -> None:
    benchmark = record(Benchmark, BENCHMARK)
    assert benchmark.id == ID
    assert benchmark.created_at == datetime(2026, 11, 18, 9, 0, 0, 250_000, tzinfo=UTC)
    assert json.loads(benchmark.model_dump_json())["created_at"] == MADE


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"id": ID}, "a BenchmarkStart that .* cannot read: status: Field required"),
        ({"id": ID, "status": "resting"}, "status: Input should be 'pending', 'queued'"),
    ],
)
def test_another_answer_is_an_error(answer: dict[str, str], problem: str) -> None:
    with pytest.raises(ServiceError, match=problem) as caught:
        record(BenchmarkStart, {"operation_uuid": None, "message": "", **answer})
    assert "install the version that the service has" in str(caught.value)


def test_the_service_and_its_client_share_their_records() -> None:
    assert RunResult is results.RunResult
