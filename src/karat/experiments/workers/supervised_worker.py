"""One worker process that runs query after query; it is replaced when it hangs or dies."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from time import monotonic

from karat.engines.adapters.external import timed_out
from karat.engines.base import EmbedPart
from karat.experiments.workers.plan import (
    QueryTexts,
    RunSettings,
    SnapshotQueries,
    warm_up_rows,
)
from karat.experiments.workers.process import (
    EngineFailure,
    EngineProcess,
    IndexedCorpus,
    IndexProgress,
    SearchRequest,
    WorkerReply,
)
from karat.experiments.workers.run_collector import (
    GroupEngine,
    QueryResult,
    UsageCounters,
    query_result,
)
from karat.experiments.workers.sources import Source
from karat.model import Outcome
from karat.model.frozen import EMPTY
from karat.system.words import join_names

NS_PER_S = 1e9
# Prefetch at most MAX_PREFETCH queries, and never so many that they use more than PREFETCH_SHARE of
# one query's timeout.
MAX_PREFETCH, PREFETCH_SHARE = 64, 0.25


class SupervisedWorker:
    """Runs queries on the engines *members*, by their numbers, in one process at a time.

    A process that hangs or dies is replaced, and the new one goes on with the next query. *failed*
    says why no further query can run, "" as long as that is possible.
    """

    def __init__(
        self,
        members: Mapping[int, GroupEngine],
        queries: QueryTexts,
        settings: RunSettings,
        *,
        timed: bool,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Store the arguments; no process is started yet."""
        self.members = dict(members)
        self._environment = environment
        self.failed = ""
        self._queries = queries
        self._settings = settings
        self._timed = timed
        self._process: EngineProcess | None = None
        self._source: Source | None = None
        self._plan: Sequence[SnapshotQueries] = ()
        # Why the engines cannot search the current snapshot.
        self._broken: EngineFailure | None = None
        self._deaths = 0
        self._lost = ""
        self._harmful: set[tuple[int, int]] = set()
        # Neither prefetch nor pipeline in a timing pass: latency is that of one query alone.
        self._pipelines = self._prefetches = not timed and settings.repetitions == 1
        # Seconds of the first query, later the seconds per prefetched query.
        self._each_s: float | None = None
        # Queries and the members of this process that have prefetched them.
        self._prefetched: set[tuple[int, int]] = set()
        if len(members) > 1:
            names = tuple(member.configuration.name for member in members.values())
            for usage in self._usage():
                usage.together = names

    @property
    def broken(self) -> bool:
        """Return whether the current snapshot cannot be searched."""
        return self._broken is not None

    def set_plan(self, plan: Sequence[SnapshotQueries], indexed: Source | None = None) -> None:
        """Set the snapshots to come, so that content that neighbours share is read once.

        *indexed* is the snapshot that another process had indexed, which this one replaces.
        """
        self._plan = plan
        self._source = indexed or self._source

    def search(
        self, snapshot: SnapshotQueries, row: int, members: Sequence[int], then: int | None = None
    ) -> dict[int, QueryResult] | EngineFailure:
        """Return the results of *members* for the query at *row*, on *snapshot*.

        An engine that cannot be built has no result. If no engine can search, the failure is
        returned. *then* is the next query, if it is known.
        """
        broken = self._ready(snapshot)
        if self.failed:
            return {}
        if broken:
            return broken
        usable = [member for member in members if not self.members[member].usage.failed]
        self._prefetch(row, usable)
        if not self._process:
            return self.search(snapshot, row, members, then)
        replies: dict[int, list[WorkerReply | EngineFailure]] = {member: [] for member in usable}
        times = self._settings.times(row)
        # A repetition must not wait behind the next query.
        then = then if times == 1 else None
        for repetition in range(times):
            usable_now = [
                member
                for member in usable
                if not any(isinstance(reply, EngineFailure) for reply in replies[member])
            ]
            # One request per repetition: nothing is decoded or stored while an engine is timed.
            returned = self._search(row, usable_now, first=not repetition, then=then)
            # The hits are known by then: a failure only means that they were not seen twice.
            spare = repetition > 0 and not self._timed
            if isinstance(returned, EngineFailure):
                if spare:
                    break
                return returned
            for member, reply in zip(usable_now, returned, strict=True):
                if isinstance(reply, WorkerReply) or not spare:
                    replies[member].append(reply)
        query_id = self._queries.ids[row]
        return {
            member: query_result(query_id, snapshot, answers, timed=self._timed)
            for member, answers in replies.items()
        }

    def embed(
        self, sources: Sequence[Source], part: EmbedPart
    ) -> Mapping[int, int] | EngineFailure:
        """Embed *part* of the texts of *sources* ahead; return how many, by member.

        A failure changes nothing: a search embeds by itself, and reports what is wrong.
        """
        begun = self._process is not None
        process = self._process or self._start()
        failure = None if begun else self._open(process)
        if not failure:
            limit_s = self._settings.index_timeout_s * len(sources)
            embedded = process.embed(sources, part, limit_s)
            if not isinstance(embedded, EngineFailure):
                return embedded
            failure = embedded
        if failure.gone or failure.wrong:
            self.close()
        return failure

    def expel(self, member: int) -> None:
        """Continue without one of the members, in another process."""
        self.close()
        del self.members[member]

    def interrupt(self) -> None:
        """Kill the process from another thread; the running query fails."""
        if process := self._process:
            process.interrupt()

    def close(self) -> None:
        """End the process, and note its peak memory."""
        process, self._process = self._process, None
        if process:
            peak_bytes = process.peak_bytes()
            for usage in self._usage():
                usage.peak_bytes = max(usage.peak_bytes, peak_bytes)
            process.close()

    def _usage(self) -> Iterator[UsageCounters]:
        return (member.usage for member in self.members.values())

    def _ready(self, snapshot: SnapshotQueries) -> EngineFailure | None:
        """Index *snapshot* and warm the engines up; return the failure that prevents it."""
        # The same object first: this runs for every query.
        if self._process and (self._source is snapshot.source or self._source == snapshot.source):
            return self._broken
        again = self._source == snapshot.source
        self._source, self._broken = snapshot.source, None
        indexed = self._index(snapshot.source)
        if isinstance(indexed, EngineFailure):
            self._broken = indexed
            if indexed.wrong:
                self.failed = indexed.message
            return indexed
        self._note(indexed, again=again)
        for row in warm_up_rows(self._queries, snapshot, self._settings):
            for member in indexed:
                self._warm(row, member)
                if not self._process:
                    return None if self.failed else self._ready(snapshot)
        return None

    def _warm(self, row: int, member: int) -> None:
        if (row, member) not in self._harmful:
            replies = self._search(row, [member])
            if isinstance(replies, EngineFailure) or isinstance(replies[0], EngineFailure):
                self._harmful.add((row, member))

    def _prefetch(self, row: int, members: Sequence[int]) -> None:
        """Let *members* prefetch the query at *row* and those after it, unless they have.

        A process that hangs or dies while it prefetches is replaced by one that does not.
        """
        new = [member for member in members if (row, member) not in self._prefetched]
        if not new or not self._prefetches or self._process is None:
            return
        rows = [row, *_rows_after(row, self._plan)][: self._together()]
        if not rows:
            return
        self._prefetched.update(product(rows, new))
        texts = [self._queries.texts[row] for row in rows]
        started = monotonic()
        failure = self._process.prefetch(texts, new, self._settings.timeout_s)
        self._each_s = (monotonic() - started) / len(rows)
        if failure and failure.gone:
            self._prefetches = False
            self._process, self._lost = None, failure.message

    def _together(self) -> int:
        """Return how many queries may be expected at once; none before one has been answered."""
        if self._each_s is None:
            return 0
        limit_s = PREFETCH_SHARE * self._settings.timeout_s
        return (
            MAX_PREFETCH if MAX_PREFETCH * self._each_s <= limit_s else int(limit_s / self._each_s)
        )

    def _index(self, source: Source) -> dict[int, IndexedCorpus] | EngineFailure:
        process = self._process
        if process is None:
            for usage in self._usage():
                usage.restarts += bool(self._deaths or usage.corpora)
            process = self._start()
            if unusable := self._open(process):
                self._lose(unusable)
                return unusable
        ahead = _revisions_after(source, self._plan)
        limit_s = self._settings.index_timeout_s
        indexed = process.index(source, limit_s, ahead=ahead, watch=self._watch)
        if isinstance(indexed, EngineFailure):
            why = indexed._replace(message=f"could not index: {indexed.message}")
            self._lose(why)
            return why
        return indexed

    def _start(self) -> EngineProcess:
        self._process = EngineProcess(self._environment)
        self._prefetched.clear()
        return self._process

    def _open(self, process: EngineProcess) -> EngineFailure | None:
        """Build the engines; return why none of them could be built."""
        group = {number: member.configuration for number, member in self.members.items()}
        failures = process.open(
            group, apart=self._timed, tokenizer=self._settings.tokenizer, watch=self._watch
        )
        if isinstance(failures, EngineFailure):
            return failures
        for number, failure in failures.items():
            self.members[number].usage.failed = failure.message
        none_is_left = len(failures) == len(group)
        return next(iter(failures.values()))._replace(wrong=True) if none_is_left else None

    def _watch(self, stage: IndexProgress) -> None:
        """Report progress for the first member; the others share the index."""
        detail = {**stage._asdict(), "runs": len(self.members)}
        next(iter(self.members.values())).report("indexing", detail)

    def _note(self, indexed: Mapping[int, IndexedCorpus], *, again: bool) -> None:
        for member, corpus in indexed.items():
            _, usage, report = self.members[member]
            if not again:
                usage.index_ns += corpus.index_ns
            usage.index_bytes = corpus.index_bytes
            usage.work = corpus.work
            usage.corpora[corpus.corpus] = None
            if again:
                report("restarted", {"why": self._lost, "corpus": corpus.corpus})
            else:
                report("indexed", corpus._asdict())

    def _search(
        self, row: int, members: Sequence[int], *, first: bool = True, then: int | None = None
    ) -> list[WorkerReply | EngineFailure] | EngineFailure:
        if self._process is None:
            raise RuntimeError("a query was run before the engine was ready")
        if not members:
            return []
        texts, timeout_s = self._queries.texts, self._settings.timeout_s
        request = SearchRequest(texts[row], members, timeout_s, first=first)
        following = None
        if then is not None and self._may_follow(then, members):
            following = SearchRequest(texts[then], members, timeout_s)
        replies = self._process.search(request, following)
        if isinstance(replies, EngineFailure):
            if replies.outcome is Outcome.TIMEOUT:
                replies = replies._replace(message=self._too_slow(members, len(members)))
            self._lose(replies)
            return replies
        self._deaths = 0
        taken_s = [reply.ns / NS_PER_S for reply in replies if isinstance(reply, WorkerReply)]
        if taken_s and self._each_s is None:
            self._each_s = sum(taken_s)
        if max(taken_s, default=0.0) > timeout_s:
            # One of several engines may have worked for all; each may be fast enough alone.
            return EngineFailure(Outcome.TIMEOUT, "timeout", self._too_slow(members))
        return replies

    def _too_slow(self, members: Sequence[int], count: int = 1) -> str:
        """Return the error of *members*, which took longer than *count* queries may take."""
        names = join_names([self.members[member].configuration.name for member in members])
        return str(timed_out(f"{names}:", self._settings.timeout_s * count))

    def _may_follow(self, row: int, members: Sequence[int]) -> bool:
        """Return whether the process may run the query at *row* while results are decoded here.

        A query that is to be prefetched must be prefetched first.
        """
        prefetched = not self._prefetches or self._prefetched.issuperset(product([row], members))
        return self._pipelines and prefetched

    def _lose(self, failure: EngineFailure) -> None:
        """Drop the process if it is gone; too many deaths in a row are the end of the worker."""
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


def _rows_after(row: int, plan: Sequence[SnapshotQueries]) -> list[int]:
    """Return the queries of *plan* after the one at *row*."""
    rows = [one for snapshot in plan for one in snapshot.rows]
    return rows[rows.index(row) + 1 :] if row in rows else []


def _revisions_after(source: Source, plan: Sequence[SnapshotQueries]) -> list[str]:
    """Return the revisions of the same repository that *plan* snapshots after *source*."""
    sources = [snapshot.source for snapshot in plan]
    after = next((index for index, one in enumerate(sources) if one == source), len(sources)) + 1
    return [one.revision for one in sources[after:] if one.path == source.path and one.revision]


class WorkerGroup:
    """Runs queries on the engines *members* in one process, so that they share work.

    When that process hangs or dies, each engine runs the same query in a process of its own. An
    engine that hangs or dies there stays alone; the others share a process again. If they cannot be
    indexed together, or die together too often, all of them stay alone.
    """

    def __init__(
        self,
        members: Sequence[GroupEngine],
        queries: QueryTexts,
        settings: RunSettings,
        *,
        timed: bool,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Store the arguments; no process is started yet."""
        self.members = dict(enumerate(members))
        self._environment = environment
        self._queries = queries
        self._settings = settings
        self._timed = timed
        self._plan: Sequence[SnapshotQueries] = ()
        self._interrupted = False
        # Workers of single engines, by their index in the group, for one query or for good.
        self._alone: dict[int, SupervisedWorker] = {}
        self._together: SupervisedWorker | None = None
        if len(members) > 1:
            self._together = self._worker(self.members)
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
            results = self._together.search(snapshot, row, together, then)
            if not isinstance(results, EngineFailure) and not self._together.failed:
                yield from results.items()
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

    def embed(
        self, sources: Sequence[Source], part: EmbedPart
    ) -> Mapping[int, int] | EngineFailure:
        """Embed *part* of the texts of *sources* ahead; return how many, by index in the group."""
        return self._workers()[0].embed(sources, part)

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
        results = worker.search(snapshot, row, [member], None if returns else then)
        self.members[member].usage.failed = worker.failed or self.members[member].usage.failed
        if isinstance(results, EngineFailure):
            query_id = self._queries.ids[row]
            yield member, query_result(query_id, snapshot, [results], timed=self._timed)
            if returns and self._together:
                self._together.expel(member)
            return
        yield from results.items()
        if returns:
            worker.close()
            del self._alone[member]

    def _disband(self, indexed: Source | None) -> None:
        if self._together:
            self._together.close()
        self._together = None
        self._part([member for member in self.members if member not in self._alone], indexed)

    def _part(self, members: Sequence[int], indexed: Source | None = None) -> None:
        """Give each of *members* its own process; *indexed* was indexed by all of them."""
        for member in members:
            one = {member: self.members[member]}
            worker = self._worker(one)
            worker.set_plan(self._plan, indexed)
            self._alone[member] = worker

    def _worker(self, members: Mapping[int, GroupEngine]) -> SupervisedWorker:
        return SupervisedWorker(
            members,
            self._queries,
            self._settings,
            timed=self._timed,
            environment=self._environment,
        )

    def _workers(self) -> list[SupervisedWorker]:
        return [*([self._together] if self._together else []), *self._alone.values()]
