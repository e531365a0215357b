"""An event loop in its own thread, for asynchronous clients."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for any thread; :meth:`close` cancels what is left and ends the thread."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name=f"karat-{name}", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Return the result of *work*; after *timeout_s* cancel it and raise TimeoutError."""
        future = asyncio.run_coroutine_threadsafe(_limited(work, timeout_s), self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop; calling it twice is fine."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


async def _limited(work: Coroutine[Any, Any, T], timeout_s: float | None) -> T:
    async with asyncio.timeout(timeout_s):
        return await work


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
