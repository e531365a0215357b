"""Executors by the scheme of their URL: where worker processes run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from karat.errors import InputError, UnknownName
from karat.experiments.workers import (
    Callbacks,
    Configuration,
    RunSettings,
    SnapshotQueries,
    measure_latency,
    measure_quality,
)
from karat.model import Dataset
from karat.model.timings import RunResult
from karat.registry import Registry

__all__ = ["EXECUTORS", "Executor", "LocalExecutor", "WorkUnit", "local_executor", "open_executor"]


class WorkUnit(NamedTuple):
    """Configurations, the queries and snapshots to run them on, settings and callbacks."""

    configurations: Sequence[Configuration]
    dataset: Dataset
    snapshots: Sequence[SnapshotQueries]
    settings: RunSettings
    callbacks: Callbacks


class Executor(Protocol):
    """Runs engines on one machine or on several.

    The contract: results and callbacks are those of ``karat.experiments.workers``. Callbacks run in
    the thread of the caller. A run that was cancelled or interrupted has the status ``cancelled``
    in its notes.
    """

    def quality(self, unit: WorkUnit) -> Sequence[RunResult]:
        """Return the hits of configurations that share their processes; nothing is timed."""
        ...

    def timing(self, unit: WorkUnit) -> Sequence[RunResult]:
        """Return the latency of all configurations, each measured alone."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Runs engines in processes of this machine, at most *workers* at once."""

    workers: int = 1

    def quality(self, unit: WorkUnit) -> Sequence[RunResult]:
        """Return the hits of the configurations."""
        return measure_quality(
            [tuple(unit.configurations)],
            unit.dataset,
            unit.snapshots,
            workers=self.workers,
            settings=unit.settings,
            callbacks=unit.callbacks,
        )

    def timing(self, unit: WorkUnit) -> Sequence[RunResult]:
        """Return the latency of the configurations."""
        return measure_latency(
            unit.configurations,
            unit.dataset,
            unit.snapshots,
            settings=unit.settings,
            callbacks=unit.callbacks,
        )


def local_executor(address: str, workers: int) -> LocalExecutor:
    """Return an executor on this machine; *address* may be a number of workers."""
    if address and not (address.isascii() and address.isdigit() and int(address)):
        raise InputError(
            f"executor local:{address}: {address!r} is not a number of workers above 0; expected "
            "local or, for example, local:8"
        )
    return LocalExecutor(int(address) if address else workers)


# A scheme leads to a function of what follows the colon and of the number of workers, which an
# executor uses where its URL does not say more.
EXECUTORS: Registry[Callable[[str, int], Executor]] = Registry(
    "executor", {"local": "karat.experiments.executors:local_executor"}, closed=True
)


def open_executor(url: str, *, workers: int = 1) -> Executor:
    """Return the executor that *url* names: ``local``, ``local:8``, or one of a plug-in.

    Plug-ins are entry points in the group ``karat.executors``; the name is the scheme.

    >>> open_executor("local", workers=2), open_executor("local:8", workers=2)
    (LocalExecutor(workers=2), LocalExecutor(workers=8))
    >>> open_executor("cluster://head")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: executor 'cluster://head': no executor 'cluster'; valid: local
    """
    scheme, _, address = url.partition(":")
    if scheme.lower() not in set(EXECUTORS):
        valid = ", ".join(EXECUTORS)
        raise UnknownName(f"executor {url!r}: no executor {scheme!r}; valid: {valid}")
    return EXECUTORS.get(scheme)(address, workers)
