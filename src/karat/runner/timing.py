"""The timing pass: engines take turns, query by query, while nothing else of Karat runs."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from karat.model import Dataset
from karat.model.timings import Measured
from karat.runner.alone import lock_file, working
from karat.runner.events import Hooks
from karat.runner.lane import Lane
from karat.runner.plan import Configuration, Settings, Visit
from karat.runner.record import Record

__all__ = ["timing"]


def timing(
    configurations: Sequence[Configuration],
    dataset: Dataset,
    visits: Sequence[Visit],
    *,
    settings: Settings | None = None,
    hooks: Hooks | None = None,
    lock: Path | None = None,
) -> list[Measured]:
    """Return the run and the times of each configuration.

    Each query is asked of one engine after the other, in an order left to chance, so that a
    machine that slows down slows all of them; only one searches at a time. It waits until no other
    work of Karat runs, which *lock* tells. Once cancelled, or interrupted by Ctrl-C, what there is
    is returned; the notes of a run say its status: completed, cancelled or failed.
    """
    settings, hooks = settings or Settings(), hooks or Hooks()
    records = [
        Record(configuration, dataset, visits, settings=settings, hooks=hooks)
        for configuration in configurations
    ]
    for record in records:
        record.lanes.append(
            Lane(record.configuration, dataset, settings, timed=True, tell=record.tell)
        )
    load = _load()
    alone = False
    try:
        waiting = _Waiting(records)
        place = lock or lock_file()
        with working(place, alone=True, waiting=waiting, cancelled=hooks.cancelled) as alone:
            _take_turns(records, visits, settings, hooks)
    except KeyboardInterrupt:
        pass
    done = [record.measured(timed=True, alone=alone) for record in records]
    return [replace(one, notes={**one.notes, "load": load}) for one in done]


def _take_turns(
    records: Sequence[Record], visits: Sequence[Visit], settings: Settings, hooks: Hooks
) -> None:
    try:
        for record in records:
            record.tell("started", {"pass": "timing"})
            record.lanes[0].expect(visits)
        for record, visit, row in _turns(records, visits, settings.seed):
            if hooks.cancelled():
                break
            taken = None if record.failed else record.lanes[0].ask(visit, row)
            if taken:
                record.add(taken)
    finally:
        for record in records:
            record.lanes[0].close()


class _Waiting:
    """Tells all runs that they have to wait."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def __call__(self) -> None:
        for record in self._records:
            record.tell("waiting", {})


def _turns(
    records: Sequence[Record], visits: Sequence[Visit], seed: int
) -> Iterator[tuple[Record, Visit, int]]:
    """Yield whom to ask what, tree by tree; each query goes to all before the next one does."""
    chance = Random(f"{seed} turns")
    for place, (source, rows) in enumerate(visits):
        wanted = [set(record.visits[place].rows) for record in records]
        for row in rows:
            turns = [
                (record, Visit(source, rows))
                for record, mine in zip(records, wanted, strict=True)
                if row in mine
            ]
            chance.shuffle(turns)
            for record, visit in turns:
                yield record, visit, row


def _load() -> float | None:
    """Return how many processes wanted to run of late, on average; None where nobody knows."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
