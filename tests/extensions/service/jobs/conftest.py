"""A small benchmark: thirty questions to a dozen notes, six configurations of the words' engine."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic

import pytest

pytest.importorskip("fastapi")


from karat.experiments.store.base import LEASE_S
from karat.experiments.workers.announcements import announce
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.jobs import benchmark as benchmark_job
from karat.extensions.service.jobs.loss_reasons import explain, loss_request
from karat.extensions.service.results import ScoredBenchmark
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import Job, ServiceStore
from karat.model import Dataset, Query, Target
from karat.model.spec import Spec
from tests.extensions.service.conftest import PATIENCE_S
from tests.lease_clock import LeaseClock

WORDS = ["amber", "basil", "cedar", "delta", "ember", "fjord"]
WORDS += ["grove", "haven", "inlet", "joust", "karst", "lemon"]
QUESTIONS = 30
MATRIX = {
    "search_modes": ["sparse"],
    "top_k_values": [1, 5, 10],
    "score_thresholds": [None, 0.5],
    "primary_k": 5,
    "k_values_for_metrics": [1, 5, 10],
}
RUNS = 6


def gold() -> Dataset:
    """Return questions of two words, of which the first names the note to find."""
    queries = []
    for number in range(QUESTIONS):
        word, other = WORDS[number % 12], WORDS[(number * 7 + 3) % 12]
        targets = (Target(f"{word}.md", 2.0), Target(f"{other}.md", 1.0))
        text = f"{word} {word} {other} number{number % 4}"
        queries.append(Query(f"q{number}", text, targets, {"half": "ab"[number % 2]}))
    return Dataset.of(queries, name="notes", match="exact")


def write_notes(folder: Path) -> None:
    """Write the notes, each with its own word and those of its neighbours."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, word in enumerate(WORDS):
        others = " ".join(WORDS[(number + step) % 12] for step in (1, 2, 5))
        text = f"# {word}\n\n{word} is like {others}.\nnumber{number % 4} of {word}\n"
        (folder / f"{word}.md").write_text(text, encoding="utf-8")


def make_benchmark(
    store: ServiceStore,
    folder: Path,
    *,
    name: str = "Small",
    engines: Mapping[str, Spec] | None = None,
) -> str:
    """Return the id of a benchmark that can be started, of *engines* where they are given."""
    write_notes(folder)
    collection = store.collections.add(
        "local",
        "Notes",
        description="",
        source={"kind": "folder", "path": str(folder)},
        index={"dense": False, "sparse": True, "chunker": "auto", "model": "granite"},
    )
    dataset = store.datasets.add(
        "local", "Questions", description="", gold=gold(), schema_version="1.0"
    )
    mapping = store.mappings.add(dataset.id, collection.id)
    total = 2 * QUESTIONS
    store.mappings.keep_resolution(mapping.id, gold(), mapped=total, total=total, unresolved=[])
    chosen = {"search_modes": [], "engines": list(engines)} if engines else {}
    config = BenchmarkConfig(MATRIX | chosen, top_k=10)
    runs = config.matrix_for(collection, offered=engines).count()
    assert engines or runs == RUNS
    return store.benchmarks.add(
        "local", name, description="", mapping=mapping.id, config=config.to_json(), total_runs=runs
    ).id


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the workers of each test a cache of their own: they wait for nobody's times."""
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    return ServiceSettings(
        store=str(tmp_path / "karat.db"),
        data=tmp_path / "data",
        roots=(tmp_path,),
        workers=0,
        warm_up=False,
    )


@pytest.fixture
def explained_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute loss reasons in this process, for tests that do not need a process of their own."""

    def store_losses(store: str, scored: ScoredBenchmark, *, stopped: Callable[[], bool]) -> bool:
        with ServiceStore(store) as opened:
            explain(opened, loss_request(store, scored))
        return not stopped()

    monkeypatch.setattr(benchmark_job, "store_losses", store_losses)


def until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds; fail where it never does."""
    waiting, deadline = Event(), monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < deadline, "it never came to that"
        # Each look is a query: more of them would slow down the processes that are waited for.
        waiting.wait(0.05)


@contextmanager
def held_up() -> Iterator[None]:
    """Keep every worker from measuring latency: it waits for work that was announced earlier."""
    with announce("test"):
        yield


def run_to_its_end(store: ServiceStore, benchmark: str) -> str:
    """Wait until *benchmark* has ended, and return how."""
    until(lambda: store.benchmarks.get(benchmark).status not in {"pending", "running"})
    return store.benchmarks.get(benchmark).status


@pytest.fixture
def lease_clock(settings: ServiceSettings) -> LeaseClock:
    return LeaseClock(settings.store)


@pytest.fixture
def store(settings: ServiceSettings, lease_clock: LeaseClock) -> Iterator[ServiceStore]:
    with ServiceStore(settings.store, make_leases=lease_clock.leases) as store:
        yield store


@pytest.fixture
def take_over(store: ServiceStore, lease_clock: LeaseClock) -> Callable[[str], Job]:
    """Return what gives a worker the job of another one that sends no heartbeat."""

    def take(worker: str) -> Job:
        for _ in range(2 * int(LEASE_S)):
            lease_clock.forward(1)
            if job := store.jobs.claim(worker):
                return job
        pytest.fail("the lease never ended")

    return take


@pytest.fixture
def benchmark(store: ServiceStore, tmp_path: Path) -> str:
    return make_benchmark(store, tmp_path / "notes")
