"""Why a benchmark has failed, without what only the service's machine knows."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from karat.errors import InputError
from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import offered_engines
from karat.extensions.service.jobs import benchmark as benchmark_job
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.extensions.service.jobs.conftest import make_benchmark

NOTHING = "no query was answered; the first error"
GONE = """
class Gone:
    def index(self, corpus):
        pass

    def search(self, query, k):
        raise OSError("it is gone")
"""


def test_it_is_on_the_benchmark_and_in_its_last_event(
    settings: ServiceSettings,
    store: ServiceStore,
    benchmark: str,
    do_jobs: Callable[[ServiceSettings], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uploaded = settings.folders.uploads / str(uuid4())

    def fail(*_given: object, **_named: object) -> None:
        raise InputError(f"no target is in {uploaded}; {uploaded}/a.md is not readable")

    monkeypatch.setattr(benchmark_job, "run_experiment", fail)
    store.benchmarks.start(benchmark)
    do_jobs(settings)
    why = "no target is in the uploaded documents; a.md is not readable"
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        answer = client.get(f"/api/v2/benchmarks/{benchmark}").json()
    assert (answer["status"], answer["error_message"]) == ("failed", why)
    last = store.events.newest(subject=benchmark)
    assert last
    assert (last.data["status"], last.data["error_message"]) == ("failed", why)


def test_the_log_says_why_no_run_was_completed(
    settings: ServiceSettings,
    tmp_path: Path,
    do_jobs: Callable[[ServiceSettings], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "gone_search.py").write_text(GONE, encoding="utf-8")
    engines = offered_engines(["gone=gone_search:Gone"])
    with ServiceStore(settings.store) as store:
        benchmark = make_benchmark(store, tmp_path / "notes", engines=engines)
        store.benchmarks.start(benchmark)
        do_jobs(replace(settings, engines=engines))
        stored = store.benchmarks.get(benchmark)
    assert (stored.status, stored.error) == ("failed", f"{NOTHING}: Gone: OSError: it is gone")
    records = [vars(record) for record in caplog.records if hasattr(record, "benchmark")]
    assert [(record["benchmark"], record["reason"]) for record in records] == [
        (benchmark, stored.error)
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{store} is in use", "the store is in use"),
        ("{data}/log: full", "the store/log: full"),
        ("postgresql+psycopg://u@10.0.0.1:5/k: gone", "the database: gone"),
        ("docs/a.md is missing", "docs/a.md is missing"),
    ],
)
def test_locations_are_left_out(settings: ServiceSettings, text: str, shown: str) -> None:
    given = text.format(store=Path(settings.store).resolve(), data=settings.data)
    assert settings.without_locations(given) == shown
