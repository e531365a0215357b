"""Stored runs by name: the id of a run or an experiment, or the name of an engine."""

from typing import NamedTuple

from karat.errors import UnknownName
from karat.experiments.store import Experiment, PastRun, Store, StoredRun
from karat.formats.gold import gold_digest
from karat.model import Dataset
from karat.model.change import Earlier

LATEST = "latest"


class SelectedRuns(NamedTuple):
    """An experiment and the selected runs: one, or all in the order of the plan."""

    experiment: Experiment
    runs: tuple[StoredRun, ...]


def select_runs(store: Store, name: str, *, gold: Dataset | None = None) -> SelectedRuns:
    """Return the runs called *name*: an id as in :func:`select_by_id`, or the name of an engine.

    ``mysearch`` is the last finished run of that engine, ``mysearch@previous`` the one before it,
    and ``mysearch@pinned`` the pinned one. With *gold*, only runs on that gold set count.
    """
    engine, which = engine_and_earlier(name)
    if engine.partition(".")[0] != LATEST:
        known = past_runs(store, engine, gold)
        if known and gold is None and which:
            # On the gold set of the newest one.
            known = past_runs(store, engine, store.dataset(known[0].dataset))
        if known or which:
            run = _one(known, engine, which, gold)
            return select_by_id(store, run.id)
    try:
        return select_by_id(store, name)
    except UnknownName as error:
        where = f" on {gold.name}" if gold else ""
        raise UnknownName(f"{error}; nor has an engine of that name finished{where}") from None


def select_by_id(store: Store, name: str) -> SelectedRuns:
    """Return the experiment or the run with the id *name*.

    The id of a run is that of its experiment, a point and a number from 1. The id of an experiment
    may be shortened, and ``latest`` is the newest.
    """
    prefix, point, position = name.partition(".")
    if point and not position.isdecimal():
        raise UnknownName(f"no run has the id {name!r}")
    experiment = store.latest() if prefix == LATEST else store.show(prefix)
    if not point:
        return SelectedRuns(experiment, experiment.runs)
    run_id = f"{experiment.id}.{position}"
    runs = tuple(run for run in experiment.runs if run.id == run_id)
    if not runs:
        raise UnknownName(
            f"no run {name!r}; experiment {experiment.id} has the runs 1 to {len(experiment.runs)}"
        )
    return SelectedRuns(experiment, runs)


def engine_and_earlier(name: str) -> tuple[str, Earlier | None]:
    """Return the engine in *name*, and which of its earlier runs is meant, if any.

    >>> engine_and_earlier("mysearch@previous"), engine_and_earlier("sparse auto @10")
    (('mysearch', <Earlier.PREVIOUS: 'previous'>), ('sparse auto @10', None))
    """
    engine, at, which = name.rpartition("@")
    return (engine, Earlier(which)) if at and which in set(Earlier) else (name, None)


def past_runs(store: Store, engine: str, gold: Dataset | None = None) -> tuple[PastRun, ...]:
    """Return the finished runs called *engine*, the newest first; with *gold*, those on that set.

    A gold set is the same if its queries and targets are, or its name: a sample, and a set with
    more judgments, has the name of the whole.
    """
    if gold is None:
        return store.past_runs(engine)
    return store.past_runs(engine, dataset=gold_digest(gold), gold=gold.name)


def _one(
    known: tuple[PastRun, ...], engine: str, which: Earlier | None, gold: Dataset | None
) -> PastRun:
    """Return the run of *engine* that *which* means; UnknownName if there is none."""
    if which is Earlier.PINNED:
        chosen = next((run for run in known if run.pinned), None)
        fix = f"karat runs pin {engine} pins the newest"
    else:
        chosen = dict(enumerate(known)).get(1 if which else 0)
        fix = "karat runs list shows all"
    if chosen is None:
        where = f" on {gold.name}" if gold else ""
        raise UnknownName(f"no {which} run of {engine!r} is stored{where}; {fix}")
    return chosen
