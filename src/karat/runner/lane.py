"""One configuration, asked query after query; its process is replaced when it hangs or dies."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from karat.model import Answer, Dataset
from karat.model.timings import NS_PER_MS, Sample, latency_ms
from karat.runner.events import Kind
from karat.runner.plan import Configuration, Settings, Visit, warm_up_rows
from karat.runner.process import EngineProcess, Failure, Indexed, Reply
from karat.runner.sources import Source

__all__ = ["Lane", "Taken"]

Tell = Callable[[Kind, Mapping[str, object]], None]


class Taken(NamedTuple):
    """The answer to one query; a sample where it was answered and timed; else perhaps a trace."""

    answer: Answer
    sample: Sample | None = None
    traceback: str = ""


class Lane:
    """Asks the engine of *configuration*; *tell* hears what becomes of its process.

    A query that fails is an answer too. *failed* says why nothing more can be asked, "" as long as
    that is possible. *index_ns* is the time that indexing has taken; what a process has to index
    because the one before it is gone does not count.
    """

    def __init__(
        self,
        configuration: Configuration,
        dataset: Dataset,
        settings: Settings,
        *,
        timed: bool,
        tell: Tell,
    ) -> None:
        """Keep what to ask; no process is started yet."""
        self.configuration = configuration
        self.failed = ""
        self.index_ns = self.index_bytes = self.peak_bytes = self.restarts = 0
        self.work: Mapping[str, int] = {}
        self.corpora: dict[str, None] = {}
        self._dataset = dataset
        self._settings = settings
        self._timed = timed
        self._tell = tell
        self._process: EngineProcess | None = None
        self._source: Source | None = None
        self._plan: Sequence[Visit] = ()
        # What keeps the engine from searching the tree that was shown.
        self._broken: Failure | None = None
        self._deaths = 0
        self._lost = ""
        self._harmful: set[int] = set()

    def expect(self, plan: Sequence[Visit]) -> None:
        """Hear which visits will be made, so that what neighbouring trees share is read once."""
        self._plan = plan

    def ask(self, visit: Visit, row: int) -> Taken | None:
        """Return the answer to the query at *row*, on the tree of *visit*; None once failed."""
        broken = self._ready(visit)
        if self.failed:
            return None
        if broken:
            return self._unanswered(visit, row, broken)
        replies: list[Reply] = []
        for repetition in range(self._settings.repetitions):
            # One request each: while the engine searches, nothing is read or stored here.
            reply = self._asked(row, first=not repetition)
            if isinstance(reply, Failure):
                return self._unanswered(visit, row, reply)
            replies.append(reply)
        return self._answered(visit, row, replies)

    def interrupt(self) -> None:
        """End the process from another thread; what is being asked fails."""
        if process := self._process:
            process.interrupt()

    def close(self) -> None:
        """End the process, and learn how much memory it took."""
        process, self._process = self._process, None
        if process:
            self.peak_bytes = max(self.peak_bytes, process.peak_bytes())
            process.close()

    def _ready(self, visit: Visit) -> Failure | None:
        """Have the tree of *visit* shown and the engine warm; return what prevents it."""
        if self._process and self._source is visit.source:
            return self._broken
        again = self._source is visit.source
        self._source, self._broken = visit.source, None
        indexed = self._show(visit.source)
        if isinstance(indexed, Failure):
            self._broken = indexed
            if indexed.wrong:
                self.failed = indexed.message
            return indexed
        self._note(indexed, again=again)
        for row in warm_up_rows(self._dataset, visit, self._settings):
            if row not in self._harmful and isinstance(self._asked(row, first=True), Failure):
                self._harmful.add(row)
            if not self._process:
                return None if self.failed else self._ready(visit)
        return None

    def _show(self, source: Source) -> Indexed | Failure:
        process = self._process
        if process is None:
            if self._deaths or self.corpora:
                self.restarts += 1
            process = self._process = EngineProcess()
            unusable = process.open(self.configuration)
            if unusable:
                self._lose(unusable)
                return unusable._replace(wrong=not unusable.gone)
        ahead = _revisions_after(source, self._plan)
        indexed = process.show(source, self._settings.index_timeout_s, ahead=ahead)
        if isinstance(indexed, Failure):
            why = indexed._replace(message=f"could not index: {indexed.message}")
            self._lose(why)
            return why
        return indexed

    def _note(self, indexed: Indexed, *, again: bool) -> None:
        if not again:
            self.index_ns += indexed.index_ns
        self.index_bytes = indexed.index_bytes
        self.work = indexed.work
        self.corpora[indexed.corpus] = None
        if again:
            self._tell("restarted", {"why": self._lost})
        else:
            self._tell("indexed", indexed._asdict())

    def _asked(self, row: int, *, first: bool) -> Reply | Failure:
        if self._process is None:
            raise RuntimeError("asked before the engine was ready")
        text, timeout_s = self._dataset.texts[row], self._settings.timeout_s
        reply = self._process.ask(text, first=first, timeout_s=timeout_s)
        if isinstance(reply, Failure):
            self._lose(reply)
        else:
            self._deaths = 0
        return reply

    def _lose(self, failure: Failure) -> None:
        """Do without the process if it is gone; too many in a row are the end of the run."""
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
                self.failed = (
                    f"{self.configuration.name}: the engine died {self._deaths} times in a row "
                    f"without an answer; the last time {failure.message}"
                )

    def _answered(self, visit: Visit, row: int, replies: list[Reply]) -> Taken:
        query_id = self._dataset.query_ids[row]
        cold, *warm = replies
        extra = _where(visit)
        for name, counts in (("invalid", cold.invalid), ("mended", cold.mended)):
            if counts:
                extra[name] = dict(counts)
        if not all(reply.same for reply in warm):
            extra["unstable"] = True
        if not self._timed:
            return Taken(Answer(query_id, cold.hits, extra=extra))
        sample = Sample(
            query_id,
            cold.ns,
            tuple(reply.ns for reply in warm),
            cold.phases.get("first_hit", 0),
            cold.phases,
            cold.tokens,
            cold.cost,
        )
        latency_ns = round(latency_ms(sample) * NS_PER_MS)
        return Taken(Answer(query_id, cold.hits, latency_ns=latency_ns, extra=extra), sample)

    def _unanswered(self, visit: Visit, row: int, failure: Failure) -> Taken:
        extra = _where(visit) | {"reason": failure.reason, "error": failure.message}
        query_id = self._dataset.query_ids[row]
        return Taken(Answer(query_id, (), failure.outcome, extra=extra), None, failure.traceback)


def _revisions_after(source: Source, plan: Sequence[Visit]) -> list[str]:
    """Return the revisions of the same repository that *plan* visits after *source*."""
    sources = [visit.source for visit in plan]
    after = next((place for place, one in enumerate(sources) if one is source), len(sources)) + 1
    return [one.revision for one in sources[after:] if one.place == source.place and one.revision]


def _where(visit: Visit) -> dict[str, object]:
    return {"revision": visit.source.revision} if visit.source.revision else {}
