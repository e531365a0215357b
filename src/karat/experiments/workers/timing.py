"""The timing pass: engines take turns, query by query, while no other karat run works."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from karat.experiments.workers.announcements import Holder, Turn, holders_json, undisturbed
from karat.experiments.workers.plan import Configuration, RunSettings, Visit, grouped
from karat.experiments.workers.quality import settled
from karat.experiments.workers.record import Hooks, Record
from karat.experiments.workers.worker_group import WorkerGroup
from karat.model import Dataset
from karat.model.timings import Measured

__all__ = ["timing"]


def timing(
    configurations: Sequence[Configuration],
    dataset: Dataset,
    visits: Sequence[Visit],
    *,
    settings: RunSettings | None = None,
    hooks: Hooks | None = None,
    announcements: Path | None = None,
) -> list[Measured]:
    """Return the run and the times of each configuration.

    Each query is asked of one engine after the other, in an order left to chance, so that a
    machine that slows down slows all of them; only one searches at a time. It waits for the karat
    runs that were announced earlier, in the folder *announcements*, unless the hooks say not to.
    The timings say whether it was alone. Engines that can share an index live in one process, but
    each does all of its search itself. Once cancelled, or interrupted by Ctrl-C, what there is
    is returned; the notes of a run say its status: completed, cancelled or failed.
    """
    settings, hooks = settings or RunSettings(), hooks or Hooks()
    records = [
        Record(configuration, dataset, visits, settings=settings, hooks=hooks)
        for configuration in configurations
    ]
    load = _load()
    turn = Turn()

    def waiting(holders: Sequence[Holder]) -> None:
        for record in records:
            record.tell("waiting", {"holders": holders_json(holders)})

    try:
        with undisturbed(
            hooks.command,
            waiting=waiting,
            cancelled=hooks.cancelled,
            wait=hooks.wait,
            folder=announcements,
        ) as turn:
            seats = _seats(records, dataset, visits, settings=settings)
            with settled():
                _take_turns(seats, visits, settings, hooks)
    except KeyboardInterrupt:
        pass
    done = [record.measured(timed=True, alone=turn.alone) for record in records]
    return [replace(one, notes={**one.notes, "load": load}) for one in done]


class _Seat(NamedTuple):
    """A run, the crew that asks for it, and its place there."""

    record: Record
    crew: WorkerGroup
    place: int


def _seats(
    records: Sequence[Record], dataset: Dataset, visits: Sequence[Visit], *, settings: RunSettings
) -> list[_Seat]:
    of = {record.configuration.name: record for record in records}
    seats = {}
    for group in grouped([record.configuration for record in records]):
        members = [of[configuration.name].member() for configuration in group]
        crew = WorkerGroup(members, dataset, settings, timed=True)
        crew.expect(visits)
        for place, configuration in enumerate(group):
            seats[configuration.name] = _Seat(of[configuration.name], crew, place)
    return [seats[record.configuration.name] for record in records]


def _take_turns(
    seats: Sequence[_Seat], visits: Sequence[Visit], settings: RunSettings, hooks: Hooks
) -> None:
    try:
        for seat in seats:
            seat.record.tell("started", {"pass": "timing"})
        for (record, crew, place), visit, row in _turns(seats, visits, settings.seed):
            if hooks.cancelled():
                break
            if not record.failed:
                for _, taken in crew.ask(visit, row, [place]):
                    record.add(taken)
    finally:
        for seat in seats:
            seat.crew.close()


def _turns(
    seats: Sequence[_Seat], visits: Sequence[Visit], seed: int
) -> Iterator[tuple[_Seat, Visit, int]]:
    """Yield whom to ask what, tree by tree; each query goes to all before the next one does."""
    chance = Random(f"{seed} turns")
    for visit in visits:
        for row in visit.rows:
            turns = [seat for seat in seats if seat.record.wants(row)]
            chance.shuffle(turns)
            for seat in turns:
                yield seat, visit, row


def _load() -> float | None:
    """Return how many processes wanted to run of late, on average; None where nobody knows."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
