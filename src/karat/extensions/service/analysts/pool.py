"""The pool of analysts: child processes that compute statistics, judging orders and searches.

A request has a subject, such as a benchmark, and an owner. Requests of one subject run one after
the other, since they share what the analyst has in memory; those of other subjects run beside them.
Owners take turns. An owner never has all analysts, and judging and search never wait for
statistics: one analyst more than the size of the pool is reserved for them.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from time import monotonic

from karat.errors import (
    AnalysisError,
    Conflict,
    EngineError,
    InputError,
    KaratError,
    LimitExceeded,
    ProcessError,
    StorageFull,
    StoreUnavailable,
    UnknownName,
)
from karat.system.processes import ChildProcess, Message

logger = logging.getLogger("karat.analysts")

# Errors in a request; any other error is a fault of the service.
ERRORS: Mapping[str, type[KaratError]] = {
    "MissingExtra": InputError,
    **{
        kind.__name__: kind
        for kind in (
            *(Conflict, EngineError, InputError, LimitExceeded),
            *(StorageFull, StoreUnavailable, UnknownName),
        )
    },
}
TIMEOUT_S = 600.0
# One more than an analyst holds in memory of any kind, see the module ``analyst``.
SUBJECTS_REMEMBERED = 4


class Priority(IntEnum):
    """Which request runs first: interactive input, a page, or background work."""

    INTERACTIVE = 0
    ANALYSIS = 1
    BACKGROUND = 2


@dataclass(eq=False, slots=True)
class _Analyst:
    """A child process, the *subjects* that it has in memory, and what it works on now."""

    child: ChildProcess
    interactive: bool
    subjects: OrderedDict[str, None] = field(default_factory=OrderedDict)
    request: "_Request | None" = None

    def remember(self, subject: str) -> None:
        self.subjects[subject] = None
        self.subjects.move_to_end(subject)
        while len(self.subjects) > SUBJECTS_REMEMBERED:
            self.subjects.popitem(last=False)


@dataclass(eq=False, slots=True)
class _Request:
    message: Message
    subject: str
    owner: str
    priority: Priority
    answer: "asyncio.Future[bytes]"
    retried: bool = False


class _AnalystDeath(Exception):
    """The process of an analyst ended before it answered."""


class AnalystPool:
    """At most *size* analyses at a time, and one process more for judging and search.

    Analysts start when they are needed. One that dies is replaced, and its request runs once more;
    AnalysisError is raised where that fails too. One that uses more than *max_bytes* of memory
    after its answer is replaced by a fresh one. All methods belong to one event loop.
    """

    def __init__(
        self,
        context: Message,
        *,
        size: int,
        max_bytes: int,
    ) -> None:
        """Send *context* with each request; nothing is started yet."""
        self._context = context
        self._size = size
        self._max_bytes = max_bytes
        self._analysts: list[_Analyst] = []
        # By owner, in the order of their turns.
        self._queues: OrderedDict[str, list[_Request]] = OrderedDict()
        self._threads = ThreadPoolExecutor(size + 1, thread_name_prefix="karat-analyst")
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the analysts."""
        return [analyst.child.pid for analyst in self._analysts]

    def has(self, subject: str) -> bool:
        """Return whether an analyst has *subject* in memory."""
        return any(subject in analyst.subjects for analyst in self._analysts)

    def request(
        self,
        operation: str,
        *,
        subject: str,
        owner: str = "",
        priority: Priority = Priority.ANALYSIS,
        **arguments: object,
    ) -> Awaitable[bytes]:
        """Return the answer as JSON; a KaratError says what is wrong with the request.

        An *owner* without a name may use all analysts.
        """
        message = {**self._context, "operation": operation, "arguments": arguments}
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if self._closed:
            answer.set_exception(AnalysisError("the service is stopping"))
            return answer
        request = _Request(message, subject, owner, priority, answer)
        self._queues.setdefault(owner, []).append(request)
        self._dispatch()
        return answer

    async def close(self) -> None:
        """End all analysts; requests that they have not answered fail."""
        self._closed = True
        for queue in self._queues.values():
            for request in queue:
                request.answer.cancel()
        self._queues.clear()
        for analyst in self._analysts:
            if analyst.request is None:
                analyst.child.close_input()
            else:
                analyst.child.interrupt_tree()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for analyst in self._analysts:
            await asyncio.to_thread(analyst.child.close)
        self._analysts.clear()
        self._threads.shutdown()

    def _dispatch(self) -> None:
        """Start all requests that may run now."""
        while pair := self._next():
            request, analyst = pair
            queue = self._queues[request.owner]
            queue.remove(request)
            self._queues.move_to_end(request.owner)
            if not queue:
                del self._queues[request.owner]
            if request.answer.done():  # The client is gone.
                continue
            if analyst is None:
                try:
                    analyst = _Analyst(start_analyst(), request.priority is not Priority.ANALYSIS)
                except ProcessError as error:
                    logger.exception("cannot start an analyst")
                    request.answer.set_exception(AnalysisError(f"cannot compute: {error}"))
                    continue
                self._analysts.append(analyst)
            analyst.request = request
            # The least recently used one is the first.
            self._analysts.remove(analyst)
            self._analysts.append(analyst)
            task = asyncio.create_task(self._run(analyst, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next(self) -> tuple[_Request, _Analyst | None] | None:
        """Return a request that may run, and its analyst, None for a new one."""
        running = [analyst.request for analyst in self._analysts if analyst.request]
        busy = {request.subject for request in running}
        for request in self._by_priority():
            if request.subject not in busy and self._may_run(request, running):
                warm = [each for each in self._analysts if request.subject in each.subjects]
                if any(_is_brief(each.request) for each in warm):
                    continue  # It has the subject in memory and is free again soon.
                return request, self._choice(request, warm)
        return None

    def _by_priority(self) -> Iterator[_Request]:
        for priority in Priority:
            for queue in self._queues.values():
                yield from (request for request in queue if request.priority is priority)

    def _may_run(self, request: _Request, running: list[_Request]) -> bool:
        if request.priority is Priority.BACKGROUND:
            return not running
        if request.priority is Priority.INTERACTIVE:
            return len(running) <= self._size
        analyses = Counter(each.owner for each in running if each.priority is Priority.ANALYSIS)
        share = max(1, self._size - 1) if request.owner else self._size
        return (
            len(running) <= self._size
            and analyses.total() < self._size
            and analyses[request.owner] < share
        )

    def _choice(self, request: _Request, warm: list[_Analyst]) -> _Analyst | None:
        """Return an idle analyst: with the subject in memory, else of the same kind of work."""
        idle = [each for each in self._analysts if each.request is None]
        interactive = request.priority is not Priority.ANALYSIS
        fitting = [each for each in idle if each in warm]
        fitting += [each for each in idle if each.interactive == interactive]
        if not fitting and len(self._analysts) > self._size:
            fitting = idle
        return fitting[0] if fitting else None

    async def _run(self, analyst: _Analyst, request: _Request) -> None:
        loop = asyncio.get_running_loop()
        try:
            body, used = await loop.run_in_executor(
                self._threads, _answered, analyst.child, request.message
            )
        except _AnalystDeath as death:
            self._replace(analyst, request, str(death))
        except Exception as error:  # noqa: BLE001 - it is raised to the client
            if isinstance(error, AnalysisError):
                self._drop(analyst)
            if not request.answer.done():
                request.answer.set_exception(error)
        else:
            analyst.remember(request.subject)
            if not request.answer.done():
                request.answer.set_result(body)
            if used > self._max_bytes:
                logger.info("analyst replaced to free memory", extra={"bytes": used})
                self._drop(analyst)
        finally:
            analyst.request = None
            if not self._closed:
                self._dispatch()

    def _replace(self, analyst: _Analyst, request: _Request, reason: str) -> None:
        """Let another analyst run *request*, unless that was tried before."""
        operation = request.message["operation"]
        logger.error("an analyst died", extra={"operation": operation, "reason": reason})
        self._drop(analyst)
        if request.answer.done():
            return
        if self._closed:
            request.answer.cancel()
        elif request.retried:
            error = AnalysisError(
                f"{operation}: the process that computes it died twice, perhaps because memory ran "
                "out; retry later, or with a smaller benchmark or collection"
            )
            request.answer.set_exception(error)
        else:
            request.retried = True
            self._queues.setdefault(request.owner, []).insert(0, request)

    def _drop(self, analyst: _Analyst) -> None:
        """Kill an analyst; the next request starts another."""
        if analyst in self._analysts:
            self._analysts.remove(analyst)
        # Freeing gigabytes takes a moment.
        self._threads.submit(analyst.child.kill)


def start_analyst() -> ChildProcess:
    """Return a new process, which waits for requests."""
    return ChildProcess.python("karat.extensions.service.analysts.analyst")


def _is_brief(request: _Request | None) -> bool:
    return request is not None and request.priority is Priority.INTERACTIVE


def _answered(child: ChildProcess, message: Message) -> tuple[bytes, int]:
    """Return the answer of *child* and the memory that it uses."""
    deadline = monotonic() + TIMEOUT_S
    try:
        answer = child.request(message, TIMEOUT_S)
        if "body" in answer:
            return child.receive_bytes(answer["body"], deadline), answer["memory"]
    except TimeoutError as error:
        operation = message["operation"]
        raise AnalysisError(
            f"{operation}: no result after {TIMEOUT_S:g} s; retry with a smaller benchmark"
        ) from error
    except (EOFError, ValueError, ProcessError) as error:
        raise _AnalystDeath(child.exit_reason()) from error
    if answer["error"] not in ERRORS:
        logger.error("an analysis failed", extra={"reason": answer["message"]})
        raise KaratError(f"{message['operation']} failed: {answer['message']}")
    raise ERRORS[answer["error"]](answer["message"])
