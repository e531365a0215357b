"""One process, asked query after query; it is replaced when it hangs or dies."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from time import monotonic

from karat.experiments.workers.plan import RunSettings, Visit, warm_up_rows
from karat.experiments.workers.process import (
    EngineFailure,
    EngineProcess,
    IndexedCorpus,
    IndexProgress,
    Question,
    WorkerReply,
)
from karat.experiments.workers.record import Account, Member, QueryResult, taken
from karat.experiments.workers.sources import Source
from karat.model import Dataset, Outcome

__all__ = ["EngineWorker"]

NS_PER_S = 1e9
# Queries that are expected together: so many, or fewer if they would take a good part of the time
# that one may take.
AHEAD, PART = 64, 0.25


class EngineWorker:
    """Asks the engines of *members*, which live in one process; a number names each of them.

    *failed* says why nothing more can be asked, "" as long as that is possible.
    """

    def __init__(
        self,
        members: Mapping[int, Member],
        dataset: Dataset,
        settings: RunSettings,
        *,
        timed: bool,
    ) -> None:
        """Keep what to ask; no process is started yet."""
        self.members = dict(members)
        self.failed = ""
        self._dataset = dataset
        self._settings = settings
        self._timed = timed
        self._process: EngineProcess | None = None
        self._source: Source | None = None
        self._plan: Sequence[Visit] = ()
        # What keeps the engines from searching the tree that was shown.
        self._broken: EngineFailure | None = None
        self._deaths = 0
        self._lost = ""
        self._harmful: set[tuple[int, int]] = set()
        # Times are those of a query alone, and so is what it finds when it is asked again.
        self._sends_ahead = self._tells_ahead = not timed and settings.repetitions == 1
        # How long the first query took, and then each of those that were expected together.
        self._each_s: float | None = None
        # Queries and the members of this process who were told to expect them.
        self._told: set[tuple[int, int]] = set()
        if len(members) > 1:
            names = tuple(member.configuration.name for member in members.values())
            for account in self._accounts():
                account.together = names

    @property
    def broken(self) -> bool:
        """Return whether the tree that was shown last cannot be searched."""
        return self._broken is not None

    def expect(self, plan: Sequence[Visit], shown: Source | None = None) -> None:
        """Hear which visits will be made, so that what neighbouring trees share is read once.

        *shown* was indexed by another process, in place of which this one is asked.
        """
        self._plan = plan
        self._source = shown or self._source

    def ask(
        self, visit: Visit, row: int, members: Sequence[int], then: int | None = None
    ) -> dict[int, QueryResult] | EngineFailure:
        """Return the answers of *members* to the query at *row*, on the tree of *visit*.

        One that cannot be built has no answer. Where none of them can answer, why not comes back.
        *then* is the query that they will be asked next, if that is known.
        """
        broken = self._ready(visit)
        if self.failed:
            return {}
        if broken:
            return broken
        usable = [member for member in members if not self.members[member].account.failed]
        self._expect(row, usable)
        if not self._process:
            return self.ask(visit, row, members, then)
        replies: dict[int, list[WorkerReply | EngineFailure]] = {member: [] for member in usable}
        for repetition in range(self._settings.repetitions):
            asked = [member for member in usable if not _failed(replies[member])]
            # One request each: while an engine is timed, nothing is read or stored here.
            said = self._asked(row, asked, first=not repetition, then=then)
            if isinstance(said, EngineFailure):
                return said
            for member, reply in zip(asked, said, strict=True):
                replies[member].append(reply)
        query_id = self._dataset.query_ids[row]
        return {
            member: taken(query_id, visit, found, timed=self._timed)
            for member, found in replies.items()
        }

    def expel(self, member: int) -> None:
        """Go on without one of the members, in another process."""
        self.close()
        del self.members[member]

    def interrupt(self) -> None:
        """End the process from another thread; what is being asked fails."""
        if process := self._process:
            process.interrupt()

    def close(self) -> None:
        """End the process, and learn how much memory it took."""
        process, self._process = self._process, None
        if process:
            peak_bytes = process.peak_bytes()
            for account in self._accounts():
                account.peak_bytes = max(account.peak_bytes, peak_bytes)
            process.close()

    def _accounts(self) -> Iterator[Account]:
        return (member.account for member in self.members.values())

    def _ready(self, visit: Visit) -> EngineFailure | None:
        """Have the tree of *visit* shown and the engines warm; return what prevents it."""
        if self._process and self._source is visit.source:
            return self._broken
        again = self._source is visit.source
        self._source, self._broken = visit.source, None
        indexed = self._show(visit.source)
        if isinstance(indexed, EngineFailure):
            self._broken = indexed
            if indexed.wrong:
                self.failed = indexed.message
            return indexed
        self._note(indexed, again=again)
        for row in warm_up_rows(self._dataset, visit, self._settings):
            for member in indexed:
                self._warm(row, member)
                if not self._process:
                    return None if self.failed else self._ready(visit)
        return None

    def _warm(self, row: int, member: int) -> None:
        if (row, member) not in self._harmful:
            replies = self._asked(row, [member])
            if isinstance(replies, EngineFailure) or isinstance(replies[0], EngineFailure):
                self._harmful.add((row, member))

    def _expect(self, row: int, members: Sequence[int]) -> None:
        """Let *members* hear of the query at *row* and those after it, unless they have.

        A process that hangs or dies of many is replaced, and the next one is asked one by one.
        """
        new = [member for member in members if (row, member) not in self._told]
        if not new or not self._tells_ahead or self._process is None:
            return
        rows = [row, *_rows_after(row, self._plan)][: self._together()]
        if not rows:
            return
        self._told.update(product(rows, new))
        texts = [self._dataset.texts[row] for row in rows]
        started = monotonic()
        failure = self._process.expect(texts, new, self._settings.timeout_s)
        self._each_s = (monotonic() - started) / len(rows)
        if failure and failure.gone:
            self._tells_ahead = False
            self._process, self._lost = None, failure.message

    def _together(self) -> int:
        """Return how many queries may be expected at once; none before one has been answered."""
        if self._each_s is None:
            return 0
        limit_s = PART * self._settings.timeout_s
        return AHEAD if AHEAD * self._each_s <= limit_s else int(limit_s / self._each_s)

    def _show(self, source: Source) -> dict[int, IndexedCorpus] | EngineFailure:
        process = self._process
        if process is None:
            for account in self._accounts():
                account.restarts += bool(self._deaths or account.corpora)
            process = self._process = EngineProcess()
            self._told.clear()
            unusable = self._open(process)
            if unusable:
                self._lose(unusable)
                return unusable
        ahead = _revisions_after(source, self._plan)
        limit_s = self._settings.index_timeout_s
        indexed = process.show(source, limit_s, ahead=ahead, watch=self._watch)
        if isinstance(indexed, EngineFailure):
            why = indexed._replace(message=f"could not index: {indexed.message}")
            self._lose(why)
            return why
        return indexed

    def _open(self, process: EngineProcess) -> EngineFailure | None:
        """Have the engines built; return why none of them is."""
        group = {place: member.configuration for place, member in self.members.items()}
        failures = process.open(group, apart=self._timed, watch=self._watch)
        if isinstance(failures, EngineFailure):
            return failures
        for place, failure in failures.items():
            self.members[place].account.failed = failure.message
        none_is_left = len(failures) == len(group)
        return next(iter(failures.values()))._replace(wrong=True) if none_is_left else None

    def _watch(self, stage: IndexProgress) -> None:
        """Report progress in the name of the first member; the others share what is indexed."""
        detail = {**stage._asdict(), "runs": len(self.members)}
        next(iter(self.members.values())).tell("indexing", detail)

    def _note(self, indexed: Mapping[int, IndexedCorpus], *, again: bool) -> None:
        for place, found in indexed.items():
            _, account, tell = self.members[place]
            if not again:
                account.index_ns += found.index_ns
            account.index_bytes = found.index_bytes
            account.work = found.work
            account.corpora[found.corpus] = None
            if again:
                tell("restarted", {"why": self._lost, "corpus": found.corpus})
            else:
                tell("indexed", found._asdict())

    def _asked(
        self, row: int, members: Sequence[int], *, first: bool = True, then: int | None = None
    ) -> list[WorkerReply | EngineFailure] | EngineFailure:
        if self._process is None:
            raise RuntimeError("asked before the engine was ready")
        if not members:
            return []
        texts, timeout_s = self._dataset.texts, self._settings.timeout_s
        question = Question(texts[row], members, timeout_s, first=first)
        following = None
        if then is not None and self._may_follow(then, members):
            following = Question(texts[then], members, timeout_s)
        replies = self._process.ask(question, following)
        if isinstance(replies, EngineFailure):
            self._lose(replies)
            return replies
        self._deaths = 0
        taken_s = [reply.ns / NS_PER_S for reply in replies if isinstance(reply, WorkerReply)]
        if taken_s and self._each_s is None:
            self._each_s = sum(taken_s)
        if max(taken_s, default=0.0) > timeout_s:
            # Only in company: it may have worked for all, and each may be quick enough alone.
            return EngineFailure(Outcome.TIMEOUT, "timeout", f"took longer than {timeout_s:g} s")
        return replies

    def _may_follow(self, row: int, members: Sequence[int]) -> bool:
        """Say whether the process may search the query at *row* while answers are looked at here.

        What it is to expect it has to hear before.
        """
        heard = not self._tells_ahead or self._told.issuperset(product([row], members))
        return self._sends_ahead and heard

    def _lose(self, failure: EngineFailure) -> None:
        """Do without the process if it is gone; too many in a row are the end of the lane."""
        if not failure.gone:
            self._deaths = 0
            return
        if self._process:
            self._process.kill()
        self._process = None
        self._lost = failure.message
        if failure.reason == "agent_error":
            self._deaths += 1
            if self._deaths == self._settings.deaths:
                names = (member.configuration.name for member in self.members.values())
                self.failed = (
                    f"{', '.join(names)}: the engine died {self._deaths} times in a row "
                    f"without an answer; the last time {failure.message}"
                )


def _failed(replies: Sequence[WorkerReply | EngineFailure]) -> bool:
    return any(isinstance(reply, EngineFailure) for reply in replies)


def _rows_after(row: int, plan: Sequence[Visit]) -> list[int]:
    """Return the queries that *plan* asks after the one at *row*."""
    rows = [one for visit in plan for one in visit.rows]
    return rows[rows.index(row) + 1 :] if row in rows else []


def _revisions_after(source: Source, plan: Sequence[Visit]) -> list[str]:
    """Return the revisions of the same repository that *plan* visits after *source*."""
    sources = [visit.source for visit in plan]
    after = next((place for place, one in enumerate(sources) if one is source), len(sources)) + 1
    return [one.revision for one in sources[after:] if one.place == source.place and one.revision]
