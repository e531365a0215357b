"""What the page says about runs of an earlier benchmark."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import create_app
from karat.extensions.service.results import scored
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.extensions.service.views import changes
from tests.extensions.service.jobs.conftest import QUESTIONS, RUNS, make_benchmark


def again(store: ServiceStore, benchmark: str, name: str) -> str:
    """Return a further benchmark of the same mapping and configuration."""
    first = store.benchmarks.get(benchmark)
    return store.benchmarks.add(
        first.owner,
        name,
        description="",
        mapping=first.mapping,
        config=first.config,
        total_runs=first.total_runs,
    ).id


@pytest.mark.usefixtures("explained_here")
def test_runs_are_compared_with_those_of_the_benchmark_before(
    settings: ServiceSettings, do_jobs: Callable[[ServiceSettings], None]
) -> None:
    with ServiceStore(settings.store) as store:
        first = make_benchmark(store, settings.roots[0] / "notes", name="Monday")
        store.benchmarks.start(first)
        do_jobs(settings)
        second = again(store, first, "Tuesday")
        store.benchmarks.start(second)
        do_jobs(settings)
        with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
            assert client.get(f"/api/v2/benchmarks/{first}/changes").json() == {"changes": []}
            listed = client.get(f"/api/v2/benchmarks/{second}/changes").json()["changes"]
        # Two runs return one hit, and have no score at 5.
        assert len(listed) == RUNS - 2
        one = listed[0]
        assert (one["earlier_benchmark_id"], one["earlier_benchmark_name"]) == (first, "Monday")
        assert (one["against"], one["unchanged"], one["significant"]) == ("previous", True, False)
        assert (one["queries"], one["ties"], one["altered"]) == (QUESTIONS, QUESTIONS, [])
        assert one["text"].startswith(f"{one['run_name']} and its run in Monday have the same ")
        # Another owner's benchmarks do not count where owners are kept apart.
        found = scored(store, store.benchmarks.get(second))
        assert changes(found, store, owner="other").changes == []
        store.results.pin(one["earlier_run_id"])
        assert len(changes(found, store, owner="local").changes) == RUNS - 2
