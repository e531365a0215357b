"""A cache of responses of analysts, in which requests for one result share one computation."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

__all__ = ["ResponseCache"]

MAX_RESPONSES = 64


class ResponseCache:
    """An LRU cache of JSON responses; concurrent requests for one key share one computation."""

    def __init__(self, *, max_entries: int = MAX_RESPONSES) -> None:
        """Start empty."""
        self._max_entries = max_entries
        self._tasks: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get(
        self, key: str, make: Callable[[], Awaitable[bytes]], *, keep: bool = True
    ) -> bytes:
        """Return the response for *key*, made by *make* on a cache miss.

        An error is raised to every request that waits for it, and is not cached. Without *keep*
        only requests that wait at the same time share the response.
        """
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(_made(make))
            while len(self._tasks) > self._max_entries:
                self._tasks.popitem(last=False)
        self._tasks.move_to_end(key)
        task = self._tasks[key]
        try:
            # A client that disconnects must not cancel the work for the others.
            body = await asyncio.shield(task)
        except Exception:
            self._forget(key, task)
            raise
        if not keep:
            self._forget(key, task)
        return body

    def _forget(self, key: str, task: "asyncio.Task[bytes]") -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]


async def _made(make: Callable[[], Awaitable[bytes]]) -> bytes:
    return await make()
