"""Stored runs by what a user writes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from karat.errors import UnknownName
from karat.experiments.store import RunStatus, Store, open_store
from karat.experiments.stored_runs import select_runs
from karat.model.evaluation import Summary
from karat.testing.store import PLAN


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "karat.db"), new=True) as opened:
        yield opened


def ended(store: Store, *, seed: int = 0, gold: str = "gold") -> str:
    """Return the id of a run called bm25 that has ended."""
    dataset = PLAN.dataset if gold == "gold" else PLAN.dataset.with_queries(_one_query())
    experiment = store.experiment(replace(PLAN, seed=seed, dataset=replace(dataset, name=gold)))
    run = f"{experiment}.1"
    assert store.claim(run)
    store.keep_scores(run, [Summary("ap", 0.1, 0.1, 2)], complete=True)
    store.finish(run, RunStatus.COMPLETED)
    return run


def _one_query() -> list:  # type: ignore[type-arg]
    return list(PLAN.dataset.queries())[:1]


def selected(store: Store, name: str, **more: object) -> list[str]:
    return [run.id for run in select_runs(store, name, **more).runs]  # type: ignore[arg-type]


def test_every_way_to_write_an_id(store: Store) -> None:
    made = store.experiment(PLAN)
    for name in ("latest", made, made[:4], made.upper()):
        chosen = select_runs(store, name)
        assert chosen.experiment.id == made
        assert chosen.runs == chosen.experiment.runs
        assert selected(store, f"{name}.2") == [f"{made}.2"]


@pytest.mark.parametrize("name", ["", ".1", "other", "latest.0", "latest.9", "latest.x", "bm25"])
def test_what_nothing_is_called(store: Store, name: str) -> None:
    store.experiment(PLAN)
    with pytest.raises(UnknownName):
        select_runs(store, name)


def test_an_engine_is_its_newest_run(store: Store) -> None:
    first, second = ended(store, seed=1), ended(store, seed=2)
    assert selected(store, "bm25") == [second]
    assert selected(store, "bm25@previous") == [first]
    with pytest.raises(UnknownName, match="no pinned run of 'bm25' is stored; karat runs pin bm25"):
        select_runs(store, "bm25@pinned")
    store.pin(first)
    assert selected(store, "bm25@pinned") == [first]
    assert selected(store, first) == [first]


def test_the_previous_run_is_on_the_same_gold_set(store: Store) -> None:
    first, other = ended(store, seed=1), ended(store, seed=2, gold="other")
    assert selected(store, "bm25") == [other]
    with pytest.raises(UnknownName, match="no previous run of 'bm25' is stored; karat runs list"):
        select_runs(store, "bm25@previous")
    assert selected(store, "bm25", gold=PLAN.dataset) == [first]
    assert selected(store, "bm25", gold=replace(PLAN.dataset, name="renamed")) == [first]
    with pytest.raises(UnknownName, match="no previous run of 'bm25' is stored on gold"):
        select_runs(store, "bm25@previous", gold=PLAN.dataset)
    with pytest.raises(UnknownName, match="nor has an engine of that name finished on gold"):
        select_runs(store, "mysearch", gold=PLAN.dataset)
