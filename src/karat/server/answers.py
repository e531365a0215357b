"""Answers that many ask for are made once, and kept for as long as they are asked for."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

__all__ = ["Answers"]

MOST_KEPT = 64


class Answers:
    """The last answers, by what they depend on."""

    def __init__(self, *, most: int = MOST_KEPT) -> None:
        """Keep at most so many."""
        self._most = most
        self._kept: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer for *key*; who comes while it is made waits for the same one.

        An error is told to everybody who waits for it, and not kept.
        """
        if key not in self._kept:
            self._kept[key] = asyncio.create_task(_made(make))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        task = self._kept[key]
        try:
            # Who goes away leaves the work to the others.
            return await asyncio.shield(task)
        except Exception:
            if self._kept.get(key) is task:
                del self._kept[key]
            raise


async def _made(make: Callable[[], Awaitable[bytes]]) -> bytes:
    return await make()
