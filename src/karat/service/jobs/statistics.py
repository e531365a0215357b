"""Statistics for the service, computed by a child process, one request at a time."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from time import monotonic

from starlette.concurrency import run_in_threadpool

from karat.errors import Conflict, InputError, KaratError, ProcessError, UnknownName
from karat.system.processes import ChildProcess

__all__ = ["ResponseCache", "StatisticsProcess"]

logger = logging.getLogger("karat.statistics")

# Errors in a request; any other error is a fault of the service.
ERRORS = {kind.__name__: kind for kind in (Conflict, InputError, UnknownName)}
TIMEOUT_S = 600.0


class StatisticsProcess:
    """The child process, started by the first request and again after it has died."""

    def __init__(self, store: str) -> None:
        """Answer from the store at the URL *store*; nothing is started yet."""
        self._store = store
        self._child: ChildProcess | None = None
        self._turn = asyncio.Lock()

    async def request(self, operation: str, **arguments: object) -> bytes:
        """Return the answer as JSON; a KaratError says what is wrong with the request."""
        async with self._turn:
            return await run_in_threadpool(self._request, operation, arguments)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _request(self, operation: str, arguments: dict[str, object]) -> bytes:
        deadline = monotonic() + TIMEOUT_S
        try:
            if self._child is None:
                self._child = ChildProcess.python("karat.service.jobs.statistics_host")
            request = {"store": self._store, "operation": operation, "arguments": arguments}
            answer = self._child.request(request, TIMEOUT_S)
            if "body" in answer:
                return self._child.receive_bytes(answer["body"], deadline)
        except (EOFError, TimeoutError, ValueError, ProcessError) as error:
            if self._child is not None:
                reason = self._child.stderr_tail()
                logger.exception("the statistics process failed", extra={"said": reason})
                self._child.kill()
                self._child = None
            raise KaratError(f"no statistics could be computed: {type(error).__name__}") from error
        raise ERRORS.get(answer["error"], KaratError)(answer["message"])


MAX_RESPONSES = 64


class ResponseCache:
    """An LRU cache of JSON responses; concurrent requests for one key share one computation."""

    def __init__(self, *, max_entries: int = MAX_RESPONSES) -> None:
        """Start empty."""
        self._max_entries = max_entries
        self._tasks: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the response for *key*, made by *make* on a cache miss.

        An error is raised to every request that waits for it, and is not cached.
        """
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(_made(make))
            while len(self._tasks) > self._max_entries:
                self._tasks.popitem(last=False)
        self._tasks.move_to_end(key)
        task = self._tasks[key]
        try:
            # A client that disconnects must not cancel the work for the others.
            return await asyncio.shield(task)
        except Exception:
            if self._tasks.get(key) is task:
                del self._tasks[key]
            raise


async def _made(make: Callable[[], Awaitable[bytes]]) -> bytes:
    return await make()
