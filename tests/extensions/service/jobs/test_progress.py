"""What is told of a benchmark while it runs: not too often, and nothing that matters too late."""

from threading import Event as Signal
from threading import Thread

import pytest

from karat.experiments.store import ExperimentDefinition, ExperimentKind, RunDefinition
from karat.experiments.workers import RunEvent
from karat.extensions.service.jobs.benchmark import BenchmarkReporter
from karat.extensions.service.jobs.job import JobContext
from karat.extensions.service.jobs.worker import work_on
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.model import Dataset, Query, Target
from karat.model.spec import Spec
from tests.extensions.service.jobs.conftest import held_up, run_to_its_end, until

pytestmark = pytest.mark.usefixtures("explained_here")

OPTIONS = {"search_mode": "sparse", "use_reranker": False, "top_k": 5, "score_threshold": None}


class Clock:
    """A clock that only the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock_of_progress() -> Clock:
    return Clock()


@pytest.fixture
def progress(
    store: ServiceStore, settings: ServiceSettings, benchmark: str, clock_of_progress: Clock
) -> BenchmarkReporter:
    """Return what tells of a benchmark with two runs."""
    operation = store.benchmarks.start(benchmark).operation
    assert operation
    gold = Dataset.of([Query("q1", "text", (Target("a"),))])
    runs = tuple(
        RunDefinition(name, Spec("engine", "bm25"), metadata={"options": OPTIONS, "k": 5})
        for name in ("one", "two")
    )
    experiment = store.results.show(
        store.results.experiment(ExperimentDefinition("x", ExperimentKind.SWEEP, gold, runs))
    )
    store.benchmarks.attach(benchmark, experiment.id)
    work = JobContext(store.jobs.get(operation), store, settings, lambda: False, lambda: None)
    told = BenchmarkReporter(work, clock=clock_of_progress)
    told.begin(experiment)
    return told


def stages(store: ServiceStore) -> list[object]:
    return [event.data["stage"] for event in store.events.after(0)]


def test_waiting_is_told_at_once_and_once(
    progress: BenchmarkReporter, store: ServiceStore, clock_of_progress: Clock
) -> None:
    for name in ("one", "two"):
        progress.on_event(RunEvent("waiting", name, 0, 1))
    assert stages(store) == ["indexing", "waiting"]
    current = store.events.after(0)[-1].data["current_run"]
    assert isinstance(current, dict)
    assert (current["config_summary"], current["stage"]) == ("one", "waiting")
    progress.on_event(RunEvent("started", "one", 0, 1))
    assert stages(store) == ["indexing", "waiting", "indexing"]
    # The rest may come later.
    progress.on_event(RunEvent("answered", "one", 1, 1, {"query_id": "q1", "outcome": "answered"}))
    assert len(stages(store)) == 3
    clock_of_progress.now += 1
    progress.on_event(RunEvent("finished", "one", 1, 1, {"status": "completed"}))
    clock_of_progress.now += 1
    progress.on_event(RunEvent("started", "one", 0, 1, {"pass": "timing"}))
    clock_of_progress.now += 1
    progress.on_event(RunEvent("answered", "one", 1, 1, {"query_id": "q1", "outcome": "answered"}))
    assert stages(store)[3:] == ["evaluating", "indexing", "timing"]


@pytest.mark.parametrize("holders", [None, "nobody", [{"pid": 7}], ["x"]])
def test_who_is_waited_for_may_be_unknown(
    progress: BenchmarkReporter, store: ServiceStore, holders: object
) -> None:
    detail = {} if holders is None else {"holders": holders}
    progress.on_event(RunEvent("waiting", "one", 0, 1, detail))
    current = store.events.after(0)[-1].data["current_run"]
    assert isinstance(current, dict)
    assert current["waiting_for"] == []


def test_who_is_waited_for(progress: BenchmarkReporter, store: ServiceStore) -> None:
    holder = {"pid": 1798, "command": "compare", "since": "2026-11-16T14:03:00+00:00"}
    progress.on_event(RunEvent("waiting", "one", 0, 1, {"holders": [{**holder, "more": 1}]}))
    current = store.events.after(0)[-1].data["current_run"]
    assert isinstance(current, dict)
    assert current["waiting_for"] == [{**holder, "since": "2026-11-16T14:03:00Z"}]
    progress.on_event(RunEvent("started", "one", 0, 1, {"pass": "timing"}))
    current = store.events.after(0)[-1].data["current_run"]
    assert isinstance(current, dict)
    assert current["waiting_for"] == []


def test_a_benchmark_waits_for_another_measurement(
    store: ServiceStore, settings: ServiceSettings, benchmark: str
) -> None:
    stopping = Signal()
    worker = Thread(target=work_on, args=(store, settings), kwargs={"stopping": stopping})
    worker.start()
    try:
        with held_up():
            store.benchmarks.start(benchmark)
            until(lambda: "waiting" in stages(store))
            assert store.benchmarks.get(benchmark).status == "running"
            assert stages(store)[-1] == "waiting"
        assert run_to_its_end(store, benchmark) == "completed"
    finally:
        stopping.set()
        worker.join()
    told = stages(store)
    # The benchmark is completed once, at the end, though its runs are scored before it waits.
    assert told.index("completed") == len(told) - 1
    assert told.index("comparing") < told.index("waiting") < told.index("timing")
