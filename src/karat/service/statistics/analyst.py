"""Statistics for the service, computed by a process of their own, one question at a time."""

import asyncio
import json
import logging
import os
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from time import monotonic

from starlette.concurrency import run_in_threadpool

from karat.engines.adapters.child import Child
from karat.errors import Conflict, EngineError, InputError, KaratError, UnknownName

__all__ = ["Analyst", "Answers"]

logger = logging.getLogger("karat.analyst")

# What may be wrong with a question; anything else is wrong with the service.
ERRORS = {kind.__name__: kind for kind in (Conflict, InputError, UnknownName)}
MOST_BYTES = 1 << 30
PATIENCE_S = 600.0


class Analyst:
    """Asks the process, which is started with the first question and again when it has died."""

    def __init__(self, place: str) -> None:
        """Answer from the store at *place*; nothing is started yet."""
        self._place = place
        self._child: Child | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: str, **arguments: object) -> bytes:
        """Return the answer as JSON; a KaratError says what is wrong with the question."""
        async with self._turn:
            return await run_in_threadpool(self._ask, question, arguments)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, question: str, arguments: dict[str, object]) -> bytes:
        deadline = monotonic() + PATIENCE_S
        try:
            child = self._child or self._started(deadline)
            child.send(json.dumps([question, arguments]).encode(), deadline)
            answer = child.receive(deadline)
        except (EOFError, TimeoutError, EngineError) as error:
            if self._child is not None:
                logger.exception("the analyst failed", extra={"said": self._child.complaints()})
                self._child.kill()
                self._child = None
            raise KaratError(f"no statistics could be computed: {type(error).__name__}") from error
        if answer[:1] == b"=":
            return answer[1:]
        kind, text = json.loads(answer[1:])
        raise ERRORS.get(kind, KaratError)(text)

    def _started(self, deadline: float) -> Child:
        self._child = Child(
            [sys.executable, "-m", "karat.service.statistics.process"],
            root="",
            environment=os.environ,
            max_bytes=MOST_BYTES,
        )
        self._child.send(json.dumps(self._place).encode(), deadline)
        return self._child


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
