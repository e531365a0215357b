"""Warm-up of search: indexes and models are loaded before the first query needs them."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool

from karat.errors import Conflict, KaratError, StoreUnavailable
from karat.extensions.service.analysts.pool import AnalystPool, Priority
from karat.extensions.service.store import Collection, ServiceStore

logger = logging.getLogger("karat.warm_up")

# An analyst has a few collections in memory; the others stay free for those that are searched.
WARMED_AT_START = 2
NEWEST = 20
RETRY_S = 5.0


def search_subject(collection: Collection) -> str:
    """Return the subject of searches in *collection*: another index is another subject."""
    return f"search {collection.id} {collection.snapshot}"


class SearchWarmUp:
    """Loads collections in the background, one at a time, while no other karat run is working."""

    def __init__(
        self,
        analysts: AnalystPool,
        store: ServiceStore,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Start with none; *pause* waits between two attempts."""
        self._analysts = analysts
        self._store = store
        self._pause = pause
        self._waiting: OrderedDict[str, Collection] = OrderedDict()
        self._added = asyncio.Event()

    def add(self, collection: Collection) -> None:
        """Warm *collection* up soon, unless it is not indexed or is warm already."""
        subject = search_subject(collection)
        if collection.status == "ready" and not self._analysts.has(subject):
            self._waiting.setdefault(subject, collection)
            self._added.set()

    async def run(self) -> None:
        """Warm up the collections that were used last, then those that are added."""
        for collection in await run_in_threadpool(self._recent):
            self.add(collection)
        while True:
            await self._added.wait()
            self._added.clear()
            while self._waiting:
                subject, collection = next(iter(self._waiting.items()))
                try:
                    await self._analysts.request(
                        "warm",
                        subject=subject,
                        priority=Priority.BACKGROUND,
                        collection=collection.id,
                    )
                except (Conflict, StoreUnavailable):
                    # Another karat run is working, perhaps measuring latency; or the database is
                    # away.
                    await self._pause(RETRY_S)
                    continue
                except KaratError:
                    about = {"collection": collection.id}
                    logger.warning("collection could not be warmed up", extra=about, exc_info=True)
                del self._waiting[subject]

    def _recent(self) -> list[Collection]:
        """Return the collections of the newest benchmarks, then the newest collections."""
        try:
            measured = [each.collection for each in self._store.benchmarks.page(limit=NEWEST).items]
            newest = self._store.collections.page(limit=NEWEST).items
            names = dict.fromkeys([*measured, *(each.id for each in newest)])
            collections = map(self._store.collections.get, names)
            return [each for each in collections if each.status == "ready"][:WARMED_AT_START]
        except KaratError as error:
            # A traceback would name the host and the user of a database that is away.
            is_away = isinstance(error, StoreUnavailable)
            logger.warning("no collections to warm up could be found", exc_info=not is_away)
            return []
