"""The engines of a group, asked together as long as none of them harms the others."""

from collections.abc import Collection, Iterator, Sequence

from karat.experiments.workers.engine_worker import EngineWorker
from karat.experiments.workers.plan import RunSettings, Visit
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.record import Member, QueryResult, taken
from karat.experiments.workers.sources import Source
from karat.model import Dataset

__all__ = ["WorkerGroup"]


class WorkerGroup:
    """Asks *members* in one process, so that they share what they can.

    When that process hangs or dies, each is asked the same query in a process of its own: who
    hangs or dies there stays alone, the others go on together. Where they cannot be indexed
    together, or die together too often, all of them are alone from then on.
    """

    def __init__(
        self, members: Sequence[Member], dataset: Dataset, settings: RunSettings, *, timed: bool
    ) -> None:
        """Keep what to ask; no process is started yet."""
        self.members = dict(enumerate(members))
        self._dataset = dataset
        self._settings = settings
        self._timed = timed
        self._plan: Sequence[Visit] = ()
        self._interrupted = False
        # Places in the group lead to those who are alone, for one query or for good.
        self._alone: dict[int, EngineWorker] = {}
        self._together: EngineWorker | None = None
        if len(members) > 1:
            self._together = EngineWorker(self.members, dataset, settings, timed=timed)
        else:
            self._part([0])

    def expect(self, plan: Sequence[Visit]) -> None:
        """Hear which visits will be made, so that what neighbouring trees share is read once."""
        self._plan = plan
        for lane in self._lanes():
            lane.expect(plan)

    def ask(
        self, visit: Visit, row: int, members: Sequence[int], then: int | None = None
    ) -> Iterator[tuple[int, QueryResult]]:
        """Yield the answers of *members*, places in the group, to the query at *row*.

        One that has failed for good has none. *then* is the query that they will be asked next, if
        that is known.
        """
        company = [member for member in members if member not in self._alone]
        if len(members) > 1 and len(company) < len(members):
            # Only one process at a time is to search.
            then = None
        on_trial: Collection[int] = ()
        if company and self._together:
            found = self._together.ask(visit, row, company, then)
            if not isinstance(found, EngineFailure) and not self._together.failed:
                yield from found.items()
            elif self._together.broken:
                self._disband(None)
            elif self._together.failed:
                self._disband(visit.source)
            else:
                self._part(company, visit.source)
                on_trial = company
        for member in members:
            if member in self._alone and not self._interrupted:
                yield from self._by_itself(member, visit, row, then, returns=member in on_trial)

    def interrupt(self) -> None:
        """End all processes from another thread; what is being asked fails, and nothing follows."""
        self._interrupted = True
        for lane in self._lanes():
            lane.interrupt()

    def close(self) -> None:
        """End all processes, and learn how much memory they took."""
        for lane in self._lanes():
            lane.close()

    def _by_itself(
        self, member: int, visit: Visit, row: int, then: int | None, *, returns: bool
    ) -> Iterator[tuple[int, QueryResult]]:
        """Ask one that is alone, and that *returns* to the others if it did no harm."""
        lane = self._alone[member]
        found = lane.ask(visit, row, [member], None if returns else then)
        self.members[member].account.failed = lane.failed or self.members[member].account.failed
        if isinstance(found, EngineFailure):
            query_id = self._dataset.query_ids[row]
            yield member, taken(query_id, visit, [found], timed=self._timed)
            if returns and self._together:
                self._together.expel(member)
            return
        yield from found.items()
        if returns:
            lane.close()
            del self._alone[member]

    def _disband(self, shown: Source | None) -> None:
        if self._together:
            self._together.close()
        self._together = None
        self._part([member for member in self.members if member not in self._alone], shown)

    def _part(self, members: Sequence[int], shown: Source | None = None) -> None:
        """Let each of *members* live alone; *shown* is the tree that they have indexed together."""
        for member in members:
            one = {member: self.members[member]}
            lane = EngineWorker(one, self._dataset, self._settings, timed=self._timed)
            lane.expect(self._plan, shown)
            self._alone[member] = lane

    def _lanes(self) -> list[EngineWorker]:
        return [*([self._together] if self._together else []), *self._alone.values()]
