"""Runs are taken by one process, and none stays without an end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.execute import claim_runs, finish_on_error
from karat.experiments.store import (
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    LeaseHolder,
    RunDefinition,
    RunStatus,
    SqlStore,
)
from karat.experiments.workers import RunEvent
from karat.model import Answer, Dataset, Query
from karat.model.spec import Spec
from tests.lease_clock import LeaseClock

OTHER = "m1:17:0a1b"
HELD = r"is being run by another process \(host m1, process 17\), which has claimed "


@pytest.fixture
def clock(tmp_path: Path) -> LeaseClock:
    return LeaseClock(str(tmp_path / "karat.db"))


@pytest.fixture
def store(clock: LeaseClock) -> Iterator[SqlStore]:
    with clock.open_store() as store:
        yield store


@pytest.fixture
def other(clock: LeaseClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStore]:
    """Return the store of a process that lives, and is not this one."""
    with clock.open_store(OTHER) as other:

        def sleep(seconds: float) -> None:
            clock.forward(seconds)
            other.heartbeat()

        monkeypatch.setattr("karat.experiments.store.base.sleep", sleep)
        yield other


@pytest.fixture
def experiment(store: SqlStore) -> Experiment:
    runs = tuple(RunDefinition(name, Spec("engine", name)) for name in ("bm25", "dense", "hybrid"))
    gold = Dataset.of([Query("q", "text")])
    return store.show(
        store.experiment(ExperimentDefinition("sweep", ExperimentKind.SWEEP, gold, runs))
    )


def statuses(store: SqlStore, experiment: Experiment) -> list[str]:
    return [run.status.value for run in store.show(experiment.id).runs]


def test_all_but_what_is_complete(store: SqlStore, experiment: Experiment) -> None:
    first, second, third = (run.id for run in experiment.runs)
    store.claim(second)
    store.add(second, Answer("q"))
    store.finish(second, RunStatus.COMPLETED)
    store.claim(third)
    store.finish(third, RunStatus.FAILED, error="no")
    assert claim_runs(store.show(experiment.id), store) == {first, third}
    assert statuses(store, experiment) == ["indexing", "completed", "indexing"]


def test_who_comes_second_takes_nothing(
    store: SqlStore, experiment: Experiment, other: SqlStore
) -> None:
    first, second, third = (run.id for run in experiment.runs)
    other.claim(first)
    other.finish(first, RunStatus.FAILED, error="no")
    other.claim(third)
    with pytest.raises(InputError, match=HELD + "hybrid"):
        claim_runs(store.show(experiment.id), store, listen=lambda _: pytest.fail("it was seen"))
    # The first one would have been free.
    assert statuses(store, experiment) == ["failed", "pending", "indexing"]
    assert store.claim(second)


def test_what_was_taken_is_given_back(
    store: SqlStore, experiment: Experiment, other: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = experiment.runs[1].id
    claim = store.claim

    def claim_late(run: str) -> bool:
        # It was not running yet when this process looked.
        if run == second:
            assert other.claim(run)
        return claim(run)

    monkeypatch.setattr(store, "claim", claim_late)
    with pytest.raises(InputError, match=HELD + "dense"):
        claim_runs(store.show(experiment.id), store)
    assert statuses(store, experiment) == ["cancelled", "indexing", "pending"]


def test_a_holder_that_ends_after_the_claim(
    store: SqlStore, experiment: Experiment, other: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = experiment.runs[1].id
    claim, holders = store.claim, store.holders
    taken: list[bool] = []

    def claim_late(run: str) -> bool:
        if run == second and not taken:
            taken.append(other.claim(run))
        return claim(run)

    def holders_late(of: str) -> tuple[LeaseHolder, ...]:
        if taken:
            other.finish(second, RunStatus.FAILED, error="no")
        return holders(of)

    monkeypatch.setattr(store, "claim", claim_late)
    monkeypatch.setattr(store, "holders", holders_late)
    assert claim_runs(experiment, store) == {run.id for run in experiment.runs}
    assert taken == [True]


def test_who_is_dead_is_outlived(
    store: SqlStore, experiment: Experiment, clock: LeaseClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[RunEvent] = []
    monkeypatch.setattr("karat.experiments.store.base.sleep", clock.forward)
    with clock.open_store(OTHER) as silent:
        assert silent.claim(experiment.runs[2].id)
        claimed = claim_runs(store.show(experiment.id), store, listen=events.append)
    assert claimed == {run.id for run in experiment.runs}
    (event,) = events
    assert (event.kind, event.run) == ("checking", "hybrid")
    assert event.detail == {"holder": "host m1, process 17", "command": "sweep"}


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt(), "cancelled"), (InputError("nobody knows"), "failed")],
)
def test_whatever_happens(
    store: SqlStore, experiment: Experiment, error: BaseException, status: str
) -> None:
    mine = claim_runs(experiment, store)
    done = experiment.runs[0].id

    def work() -> None:
        with finish_on_error(mine, store) as left:
            store.finish(done, RunStatus.COMPLETED)
            left.discard(done)
            raise error

    if isinstance(error, KeyboardInterrupt):
        work()
    else:
        with pytest.raises(InputError, match="nobody knows"):
            work()
    assert statuses(store, experiment) == ["completed", status, status]
    told = store.show(experiment.id).runs[1].error
    assert told == ("nobody knows" if status == "failed" else "")
