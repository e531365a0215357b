"""The engines of a group share one process, as long as none of them harms the others."""

from collections.abc import Collection, Iterator, Sequence

from karat.experiments.workers.engine_worker import EngineWorker
from karat.experiments.workers.plan import RunSettings, SnapshotQueries
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.run_collector import GroupEngine, QueryResult, query_result
from karat.experiments.workers.sources import Source
from karat.model import Dataset

__all__ = ["WorkerGroup"]


class WorkerGroup:
    """Runs queries on the engines *members* in one process, so that they share work.

    When that process hangs or dies, each engine runs the same query in a process of its own. An
    engine that hangs or dies there stays alone; the others share a process again. If they cannot be
    indexed together, or die together too often, all of them stay alone.
    """

    def __init__(
        self,
        members: Sequence[GroupEngine],
        dataset: Dataset,
        settings: RunSettings,
        *,
        timed: bool,
    ) -> None:
        """Store the arguments; no process is started yet."""
        self.members = dict(enumerate(members))
        self._dataset = dataset
        self._settings = settings
        self._timed = timed
        self._plan: Sequence[SnapshotQueries] = ()
        self._interrupted = False
        # Workers of single engines, by their index in the group, for one query or for good.
        self._alone: dict[int, EngineWorker] = {}
        self._together: EngineWorker | None = None
        if len(members) > 1:
            self._together = EngineWorker(self.members, dataset, settings, timed=timed)
        else:
            self._part([0])

    def set_plan(self, plan: Sequence[SnapshotQueries]) -> None:
        """Set the snapshots to come, so that content that neighbours share is read once."""
        self._plan = plan
        for worker in self._workers():
            worker.set_plan(plan)

    def search(
        self, snapshot: SnapshotQueries, row: int, members: Sequence[int], then: int | None = None
    ) -> Iterator[tuple[int, QueryResult]]:
        """Yield the results of *members*, indexes in the group, for the query at *row*.

        An engine that has failed for good has no result. *then* is the next query, if it is known.
        """
        together = [member for member in members if member not in self._alone]
        if len(members) > 1 and len(together) < len(members):
            # Only one process may search at a time.
            then = None
        on_trial: Collection[int] = ()
        if together and self._together:
            found = self._together.search(snapshot, row, together, then)
            if not isinstance(found, EngineFailure) and not self._together.failed:
                yield from found.items()
            elif self._together.broken:
                self._disband(None)
            elif self._together.failed:
                self._disband(snapshot.source)
            else:
                self._part(together, snapshot.source)
                on_trial = together
        for member in members:
            if member in self._alone and not self._interrupted:
                yield from self._by_itself(member, snapshot, row, then, returns=member in on_trial)

    def interrupt(self) -> None:
        """Kill all processes from another thread; running queries fail, and no other starts."""
        self._interrupted = True
        for worker in self._workers():
            worker.interrupt()

    def close(self) -> None:
        """End all processes, and note their peak memory."""
        for worker in self._workers():
            worker.close()

    def _by_itself(
        self, member: int, snapshot: SnapshotQueries, row: int, then: int | None, *, returns: bool
    ) -> Iterator[tuple[int, QueryResult]]:
        """Run a query on a single engine, which *returns* to the others if it did no harm."""
        worker = self._alone[member]
        found = worker.search(snapshot, row, [member], None if returns else then)
        self.members[member].usage.failed = worker.failed or self.members[member].usage.failed
        if isinstance(found, EngineFailure):
            query_id = self._dataset.query_ids[row]
            yield member, query_result(query_id, snapshot, [found], timed=self._timed)
            if returns and self._together:
                self._together.expel(member)
            return
        yield from found.items()
        if returns:
            worker.close()
            del self._alone[member]

    def _disband(self, shown: Source | None) -> None:
        if self._together:
            self._together.close()
        self._together = None
        self._part([member for member in self.members if member not in self._alone], shown)

    def _part(self, members: Sequence[int], shown: Source | None = None) -> None:
        """Give each of *members* its own process; *shown* was indexed by all of them."""
        for member in members:
            one = {member: self.members[member]}
            worker = EngineWorker(one, self._dataset, self._settings, timed=self._timed)
            worker.set_plan(self._plan, shown)
            self._alone[member] = worker

    def _workers(self) -> list[EngineWorker]:
        return [*([self._together] if self._together else []), *self._alone.values()]
