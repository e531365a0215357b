"""Runs are taken by one process, and none stays without an end."""

from pathlib import Path
from socket import gethostname

import pytest

from karat.errors import InputError
from karat.experiments.execute import claim_runs, finish_on_error
from karat.experiments.store import (
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    SqlStore,
)
from karat.model import Answer, Dataset, Query
from karat.model.spec import Spec

# A process that lives, and is not this one.
OTHER = f"{gethostname()}:1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "karat.db"


@pytest.fixture
def store(place: Path) -> SqlStore:
    return SqlStore(place)


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
    store: SqlStore, experiment: Experiment, place: Path
) -> None:
    first, second, third = (run.id for run in experiment.runs)
    with SqlStore(place, worker=OTHER) as other:
        other.claim(first)
        other.finish(first, RunStatus.FAILED, error="no")
        other.claim(third)
        with pytest.raises(InputError, match="by another process: it has hybrid"):
            claim_runs(store.show(experiment.id), store)
    # The first one would have been free.
    assert statuses(store, experiment) == ["failed", "pending", "indexing"]
    assert store.claim(second)


def test_what_was_taken_is_given_back(store: SqlStore, experiment: Experiment, place: Path) -> None:
    seen = store.show(experiment.id)
    with SqlStore(place, worker=OTHER) as other:
        other.claim(experiment.runs[1].id)
        # It was not running yet when this process looked.
        with pytest.raises(InputError, match="by another process: it has dense"):
            claim_runs(seen, store)
    assert statuses(store, experiment) == ["cancelled", "indexing", "pending"]


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
