"""The law of benchmarks: from pending to their end; cancelling wins over everything."""

# A suite of tests asserts, wherever it is kept.

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from karat.errors import Conflict, TooManyJobs, UnknownName
from karat.experiments.store import RunStatus
from karat.extensions.service.store import Benchmark, JobStatus, ServiceStore
from karat.testing.store import PLAN
from tests.extensions.service.store.conftest import GOLD, Clock

WORKER = "far:1"


def attached(service: ServiceStore, benchmark: str) -> str:
    """Give *benchmark* an experiment, and return it."""
    experiment = service.results.experiment(replace(PLAN, dataset=GOLD))
    service.benchmarks.attach(benchmark, experiment)
    return experiment


def test_it_comes_back(service: ServiceStore, benchmark: Benchmark, clock: Clock) -> None:
    """All that was asked for, to its owner alone."""
    assert service.benchmarks.get(benchmark.id) == benchmark
    assert (benchmark.status, benchmark.total_runs, benchmark.created) == (
        "pending",
        2,
        clock.now,
    )
    assert service.mappings.get(benchmark.mapping).dataset == benchmark.dataset
    assert benchmark.config == {"top_k": 10}
    with pytest.raises(UnknownName, match="no benchmark"):
        service.benchmarks.get(benchmark.id, owner="bob")
    with pytest.raises(UnknownName, match="no benchmark x"):
        service.benchmarks.get("x")


def test_pages(service: ServiceStore, benchmark: Benchmark, clock: Clock) -> None:
    """The newest first; of one owner, one status or one dataset where named."""
    ids = [benchmark.id]
    for number in range(3):
        clock.forward(1)
        made = service.benchmarks.add(
            "ann" if number else "bob",
            str(number),
            description="",
            mapping=benchmark.mapping,
            config={},
            total_runs=1,
        )
        ids.insert(0, made.id)
    service.benchmarks.start(ids[0])
    page = service.benchmarks.page(limit=2, offset=1)
    assert ([each.id for each in page.items], page.total) == (ids[1:3], 4)
    assert service.benchmarks.page(owner="ann").total == 3
    assert [each.id for each in service.benchmarks.page(status="queued").items] == ids[:1]
    assert service.benchmarks.page(status="running").total == 0
    service.jobs.claim(WORKER)
    assert [each.id for each in service.benchmarks.page(status="running").items] == ids[:1]
    assert service.benchmarks.page(status="queued").total == 0
    assert service.benchmarks.page(status="failed").total == 0
    assert service.benchmarks.page(dataset=benchmark.dataset).total == 4
    assert service.benchmarks.page(dataset="x").total == 0


def test_its_runs_are_counted(service: ServiceStore, benchmark: Benchmark) -> None:
    """Where they are kept, so that no second number can differ."""
    experiment = attached(service, benchmark.id)
    service.results.finish(f"{experiment}.1", RunStatus.COMPLETED)
    service.results.finish(f"{experiment}.2", RunStatus.FAILED)
    stored = service.benchmarks.get(benchmark.id)
    assert (stored.experiment, stored.completed_runs, stored.failed_runs) == (experiment, 1, 1)
    assert service.benchmarks.of_experiment(experiment, owner="ann") == stored
    with pytest.raises(UnknownName, match="no benchmark with the experiment"):
        service.benchmarks.of_experiment(experiment, owner="bob")
    resolved = str(service.mappings.get(benchmark.mapping).resolved_at)
    assert service.benchmarks.version(benchmark.id) == (
        (1, resolved, f"{experiment}.1", "completed", "", True),
        (1, resolved, f"{experiment}.2", "failed", "", False),
    )


def test_a_run_without_its_latency_is_completed(
    service: ServiceStore, benchmark: Benchmark
) -> None:
    """Also where measuring it has failed; that it is indexed for it is no new version."""
    experiment = attached(service, benchmark.id)
    for number in (2, 1):
        assert service.results.claim(f"{experiment}.{number}")
        service.results.keep_scores(f"{experiment}.{number}", [], complete=True)
    runs = (f"{experiment}.1", f"{experiment}.2")
    assert service.benchmarks.scored_runs(benchmark.id) == runs
    before = service.benchmarks.version(benchmark.id)
    service.results.begin(f"{experiment}.1")
    assert service.benchmarks.version(benchmark.id) == before
    service.results.finish(f"{experiment}.2", RunStatus.FAILED, error="no")
    assert service.benchmarks.version(benchmark.id) != before
    stored = service.benchmarks.get(benchmark.id)
    assert (stored.completed_runs, stored.failed_runs) == (2, 0)


def test_it_knows_what_was_searched_and_who_began_it(
    service: ServiceStore, benchmark: Benchmark
) -> None:
    """The commit, and the request."""
    experiment = attached(service, benchmark.id)
    assert service.benchmarks.get(benchmark.id).revision is None
    commit = {"id": "c0ffee", "subject": "Stems"}
    service.benchmarks.attach(benchmark.id, experiment, revision=commit)
    assert service.benchmarks.get(benchmark.id).revision == commit
    started = service.benchmarks.start(benchmark.id, correlation="request-1")
    assert started.operation
    assert service.jobs.get(started.operation).correlation == "request-1"


def test_start_and_finish(service: ServiceStore, benchmark: Benchmark, clock: Clock) -> None:
    """One that runs, or is completed, is started no second time."""
    started = service.benchmarks.start(benchmark.id)
    assert (started.status, started.started) == ("running", clock.now)
    with pytest.raises(Conflict, match="is running"):
        service.benchmarks.start(benchmark.id)
    job = service.jobs.claim(WORKER)
    assert job
    assert (job.id, job.subject) == (started.operation, benchmark.id)
    assert service.benchmarks.finish(benchmark.id, "completed")
    service.jobs.end(job.id, WORKER, JobStatus.COMPLETED)
    with pytest.raises(Conflict, match="is completed"):
        service.benchmarks.start(benchmark.id)
    with pytest.raises(Conflict, match="is completed"):
        service.benchmarks.cancel(benchmark.id)


def test_a_key_starts_once(service: ServiceStore, benchmark: Benchmark) -> None:
    """However many ask with it at once, and whatever happens later."""

    def start(_: int) -> str | None:
        return service.benchmarks.start(benchmark.id, key="k1").operation

    with ThreadPoolExecutor(4) as threads:
        operations = set(threads.map(start, range(8)))
    assert len(operations) == 1
    with pytest.raises(Conflict, match="is running"):
        service.benchmarks.start(benchmark.id, key="k2")
    service.benchmarks.finish(benchmark.id, "failed", error="broke")
    assert service.benchmarks.start(benchmark.id, key="k1").status == "failed"


def test_one_too_many(service: ServiceStore, benchmark: Benchmark, mapping: str) -> None:
    """It stays as it is; who asks again for what runs is not told of a limit."""
    other = service.benchmarks.add(
        "ann", "x", description="", mapping=mapping, config={}, total_runs=1
    )
    service.benchmarks.start(benchmark.id, key="k1", most=1)
    with pytest.raises(TooManyJobs, match="1 jobs are not finished"):
        service.benchmarks.start(other.id, most=1)
    assert service.benchmarks.get(other.id) == other
    assert service.benchmarks.start(benchmark.id, key="k1", most=1).status == "running"


def test_what_failed_may_start_again(service: ServiceStore, benchmark: Benchmark) -> None:
    """As soon as nobody works on it any more."""
    service.benchmarks.start(benchmark.id)
    job = service.jobs.claim(WORKER)
    assert job
    service.benchmarks.finish(benchmark.id, "failed", error="broke\0")
    assert service.benchmarks.get(benchmark.id).error == "broke?"
    assert service.benchmarks.get(benchmark.id).stopping
    with pytest.raises(Conflict, match="the benchmark is still stopping; try again in a few sec"):
        service.benchmarks.start(benchmark.id)
    service.jobs.end(job.id, WORKER, JobStatus.FAILED)
    assert not service.benchmarks.get(benchmark.id).stopping
    again = service.benchmarks.start(benchmark.id)
    assert (again.status, again.error, again.completed) == ("running", "", None)


def test_its_place_in_the_queue(service: ServiceStore, benchmark: Benchmark, clock: Clock) -> None:
    second = service.benchmarks.add(
        "ann", "x", description="", mapping=benchmark.mapping, config={}, total_runs=1
    )
    assert (benchmark.position, benchmark.current_status) == (None, "pending")

    def standings() -> list[tuple[int | None, str]]:
        queue = map(service.benchmarks.get, (benchmark.id, second.id))
        return [(each.position, each.current_status) for each in queue]

    service.benchmarks.start(benchmark.id)
    clock.forward(1)
    service.benchmarks.start(second.id)
    assert standings() == [(1, "queued"), (2, "queued")]
    service.jobs.claim(WORKER)
    assert standings() == [(None, "running"), (1, "queued")]
    service.benchmarks.cancel(second.id)
    assert standings() == [(None, "running"), (None, "cancelled")]


def test_a_mapping_must_be_resolved(service: ServiceStore, dataset: str, collection: str) -> None:
    """Before anything runs on it."""
    mapping = service.mappings.add(dataset, collection).id
    benchmark = service.benchmarks.add(
        "ann", "x", description="", mapping=mapping, config={}, total_runs=1
    )
    with pytest.raises(Conflict, match=r"^Mapping must be resolved$"):
        service.benchmarks.start(benchmark.id)
    assert service.jobs.claim(WORKER) is None
    with pytest.raises(UnknownName, match="no mapping"):
        service.benchmarks.add("a", "x", description="", mapping="x", config={}, total_runs=1)


def test_cancel_before_a_worker_comes(service: ServiceStore, benchmark: Benchmark) -> None:
    """Nobody takes the job any more; it may be started again."""
    service.benchmarks.start(benchmark.id)
    assert service.benchmarks.cancel(benchmark.id).status == "cancelled"
    assert service.jobs.claim(WORKER) is None
    with pytest.raises(Conflict, match="is cancelled"):
        service.benchmarks.cancel(benchmark.id)
    # It may be started again, and does what is missing.
    assert service.benchmarks.start(benchmark.id).status == "running"


def test_cancel_wins(service: ServiceStore, benchmark: Benchmark) -> None:
    """Over whatever a worker says later."""
    service.benchmarks.start(benchmark.id)
    job = service.jobs.claim(WORKER)
    assert job
    service.benchmarks.cancel(benchmark.id)
    assert service.jobs.check(job.id, WORKER) == (True, True)
    assert not service.benchmarks.finish(benchmark.id, "completed")
    assert service.benchmarks.get(benchmark.id).status == "cancelled"


def test_cancel_and_finish_race(service: ServiceStore, benchmark: Benchmark) -> None:
    """Whoever is first, both agree on it: never both, never neither."""

    def cancel() -> bool:
        try:
            service.benchmarks.cancel(benchmark.id)
        except Conflict:
            return False
        return True

    for _ in range(10):
        service.benchmarks.start(benchmark.id)
        job = service.jobs.claim(WORKER)
        assert job
        with ThreadPoolExecutor(2) as threads:
            cancelling = threads.submit(cancel)
            finishing = threads.submit(service.benchmarks.finish, benchmark.id, "failed")
            cancelled, finished = cancelling.result(), finishing.result()
        assert cancelled is not finished
        expected = "cancelled" if cancelled else "failed"
        assert service.benchmarks.get(benchmark.id).status == expected
        service.jobs.end(job.id, WORKER, JobStatus.CANCELLED)


def test_delete(service: ServiceStore, benchmark: Benchmark) -> None:
    """Not while somebody works on it; its results go, the gold set stays."""
    experiment = attached(service, benchmark.id)
    service.benchmarks.start(benchmark.id)
    with pytest.raises(Conflict, match="is running; cancel it first"):
        service.benchmarks.delete(benchmark.id)
    job = service.jobs.claim(WORKER)
    assert job
    service.benchmarks.cancel(benchmark.id)
    with pytest.raises(Conflict, match="is running; cancel it first"):
        service.benchmarks.delete(benchmark.id)
    service.jobs.end(job.id, WORKER, JobStatus.CANCELLED)
    service.benchmarks.annotate(benchmark.id, "slow", author="ann")
    service.benchmarks.delete(benchmark.id)
    with pytest.raises(UnknownName):
        service.results.show(experiment)
    with pytest.raises(UnknownName):
        service.benchmarks.delete(benchmark.id)
    # The gold set stays as long as the dataset has it.
    gold = service.datasets.get(benchmark.dataset).gold
    assert len(service.datasets.gold(gold)) == len(GOLD)


def test_annotations(service: ServiceStore, benchmark: Benchmark, clock: Clock) -> None:
    """In the order in which they were made."""
    first = service.benchmarks.annotate(benchmark.id, "new model", author="ann")
    second = service.benchmarks.annotate(benchmark.id, "slow\0 day", author="bob")
    assert (first.text, first.author, first.created) == ("new model", "ann", clock.now)
    assert second.text == "slow? day"
    assert service.benchmarks.annotations(benchmark.id, "x") == (first, second)
    assert service.benchmarks.annotations() == ()
    with pytest.raises(UnknownName):
        service.benchmarks.annotate("x", "y", author="ann")


def test_results_are_kept_until_something_changes(
    service: ServiceStore, benchmark: Benchmark
) -> None:
    """What is kept under one key replaces what was under another."""
    assert service.benchmarks.stored_results(benchmark.id, "k1") is None
    service.benchmarks.store_results(benchmark.id, "k1", b"old")
    service.benchmarks.store_results(benchmark.id, "k2", "größer".encode())
    assert service.benchmarks.stored_results(benchmark.id, "k1") is None
    assert service.benchmarks.stored_results(benchmark.id, "k2") == "größer".encode()
    assert service.benchmarks.has_results(benchmark.id, "k2")
    assert not service.benchmarks.has_results(benchmark.id, "k1")
    with pytest.raises(UnknownName, match="no benchmark x"):
        service.benchmarks.store_results("x", "k1", b"")
    service.benchmarks.delete(benchmark.id)
    assert service.benchmarks.stored_results(benchmark.id, "k2") is None
