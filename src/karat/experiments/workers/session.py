"""Sessions: the worker processes of an engine group, kept alive from work to work."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from uuid import uuid4

from karat.experiments.workers.plan import Group, QueryTexts, RunSettings, SnapshotQueries
from karat.experiments.workers.run_collector import (
    EventKind,
    GroupEngine,
    QueryResult,
    UsageCounters,
)
from karat.experiments.workers.supervised_worker import WorkerGroup
from karat.model.frozen import EMPTY

# Receives an event of the run at an index in the group.
Report = Callable[[int, EventKind, Mapping[str, object]], None]


class GroupSession:
    """The engines of a group in their own processes; *usage* has the counters of each engine.

    The processes are used by one thread, except for :meth:`interrupt`.
    """

    def __init__(
        self,
        configurations: Group,
        queries: QueryTexts,
        settings: RunSettings,
        report: Report,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Start no process yet; *environment* are variables that this machine may lack."""
        self.id = uuid4().hex
        self.usage = tuple(UsageCounters() for _ in configurations)
        self.interrupted = False
        self.group = WorkerGroup(
            [
                GroupEngine(configuration, usage, partial(report, member))
                for member, (configuration, usage) in enumerate(
                    zip(configurations, self.usage, strict=True)
                )
            ],
            queries,
            settings,
            timed=False,
            environment=environment,
        )

    def run(
        self,
        plan: Sequence[SnapshotQueries],
        queries: Iterator[tuple[SnapshotQueries, int]],
        wants: Callable[[int, int], bool],
        add: Callable[[int, QueryResult], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Run *queries*, each a snapshot and a row, until there are no more or it is *stopped*.

        *plan* are the snapshots that are likely to come. *wants* says whether the engine at an
        index needs a row; *add* receives its result. The next query is taken while one runs, so
        that its worker can begin it at once.
        """
        self.group.set_plan(plan)
        current = next(queries, None)
        while current and not stopped():
            following = next(queries, None)
            snapshot, row = current
            if members := self._members(row, wants):
                then = None
                if following and following[0] is snapshot:
                    same = self._members(following[1], wants) == members
                    then = following[1] if same else None
                for member, result in self.group.search(snapshot, row, members, then):
                    if not self.interrupted:
                        add(member, result)
            current = following

    def _members(self, row: int, wants: Callable[[int, int], bool]) -> list[int]:
        """Return the indexes of the engines that need the query at *row* and can run it."""
        return [
            member
            for member, usage in enumerate(self.usage)
            if not usage.failed and wants(member, row)
        ]

    def interrupt(self) -> None:
        """Kill the processes from another thread; the running query has no result."""
        self.interrupted = True
        self.group.interrupt()

    def close(self) -> None:
        """End the processes."""
        self.group.close()
