"""Executors: where the queries of engine groups run, and the pass whose hits they collect."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.experiments.workers.plan import (
    Configuration,
    Group,
    RunSettings,
    SnapshotQueries,
)
from karat.experiments.workers.run_collector import Callbacks, RunCollector
from karat.model import Dataset
from karat.model.timings import RunResult
from karat.registry import MAY_ADD, Registry


class CompleteGroup(NamedTuple):
    """The group at the index *group*, with the run of each of its configurations."""

    group: int
    runs: tuple[RunResult, ...]


class QualityPass:
    """The queries that the runs of engine groups lack, and the collectors of their results.

    *left* holds the indexes of the groups that are not complete.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
    ) -> None:
        """Start without a result."""
        self.dataset = dataset
        self.settings = settings
        self.callbacks = callbacks
        self.collectors = [
            [
                RunCollector(one, dataset, snapshots, settings=settings, callbacks=callbacks)
                for one in group
            ]
            for group in groups
        ]
        self._snapshots = snapshots
        self.left = dict.fromkeys(range(len(groups)))

    def snapshots(self, group: int) -> list[SnapshotQueries]:
        """Return the snapshots with the queries that any run of the group at this index lacks."""
        collectors = self.collectors[group]
        lacking = (
            SnapshotQueries(
                source, tuple(row for row in rows if any(one.wants(row) for one in collectors))
            )
            for source, rows in self._snapshots
        )
        return [one for one in lacking if one.rows]

    def complete(self, group: int) -> CompleteGroup:
        """Return the runs of the group at this index as far as they have come."""
        del self.left[group]
        return CompleteGroup(
            group, tuple(one.measured(timed=False) for one in self.collectors[group])
        )


class Executor:
    """Runs the queries of engine groups; a subclass says where.

    *travels* says whether engines may run on other machines, which lack the files of this one.

    The contract, which ``karat.testing.ExecutorSuite`` checks: hits do not depend on the executor;
    collectors are called in the thread of the caller; an engine that fails costs only its own run;
    once the callbacks are cancelled, or after Ctrl-C, no further query starts, running queries get
    little time to end, and the results that have arrived are collected.
    """

    travels: bool = False

    @property
    def warning(self) -> str:
        """Return what a user should know before anything runs, "" for nothing."""
        return ""

    def collect(self, hits: QualityPass) -> Iterator[CompleteGroup]:
        """Run the queries that the runs of *hits* lack; yield each group that is complete."""
        raise NotImplementedError

    def check_timed_on(self, name: str) -> None:
        """Raise InputError unless latency can be measured on the slot or machine *name*."""
        raise InputError(
            f"--timed-on {name}: all slots of the local executor are on this machine, where "
            "latency is measured by default; remove the option, or use a cluster (--executor)"
        )

    def measure_latency(
        self,
        name: str,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
    ) -> list[RunResult]:
        """Return what :func:`karat.experiments.workers.measure_latency` does, on slot *name*."""
        raise NotImplementedError


# A scheme leads to a function of what follows the colon and of the number of workers, which an
# executor uses where its URL does not say more.
EXECUTORS: Registry[Callable[[str, int], Executor]] = Registry(
    "executor",
    {
        "local": "karat.experiments.executors.local:local_executor",
    },
    closed=True,
)


def open_executor(url: str, *, workers: int = 1) -> Executor:
    """Return the executor that *url* names: ``local``, ``local:8``, ``dask://host:8786``, ...

    Extensions add executors by the scheme of their URLs.

    >>> open_executor("local", workers=2), open_executor("local:8", workers=2)
    (LocalExecutor(workers=2), LocalExecutor(workers=8))
    >>> open_executor("slurm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: executor 'slurm': unknown scheme 'slurm'; expected local...
    """
    scheme, _, address = url.partition(":")
    if scheme.lower() not in set(EXECUTORS):
        valid = ", ".join(EXECUTORS)
        raise UnknownName(
            f"executor {url!r}: unknown scheme {scheme!r}; expected {valid}; {MAY_ADD}"
        )
    return EXECUTORS.get(scheme)(address, workers)
