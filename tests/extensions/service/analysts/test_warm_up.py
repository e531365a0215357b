"""Warm-up of search: which collections are loaded, when, and that nobody waits for it."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

from karat.errors import Conflict, EngineError, KaratError, StoreUnavailable
from karat.experiments.workers.announcements import announce
from karat.extensions.service.analysts.pool import AnalystPool, Priority
from karat.extensions.service.analysts.warm_up import RETRY_S, SearchWarmUp, search_subject
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import Collection, ServiceStore
from tests.extensions.service.jobs.conftest import make_benchmark


class FakePool(AnalystPool):
    """Writes requests down, and raises *errors* first."""

    def __init__(self, *errors: KaratError) -> None:
        super().__init__({}, size=1, max_bytes=1)
        self.errors = list(errors)
        self.asked: list[str] = []
        self.warm: set[str] = set()

    def has(self, subject: str) -> bool:
        return subject in self.warm

    def request(
        self,
        operation: str,
        *,
        subject: str,
        owner: str = "",
        priority: Priority = Priority.ANALYSIS,
        **arguments: object,
    ) -> Awaitable[bytes]:
        assert (operation, owner, priority) == ("warm", "", Priority.BACKGROUND)
        self.asked.append(str(arguments["collection"]))
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if self.errors:
            answer.set_exception(self.errors.pop(0))
        else:
            self.warm.add(subject)
            answer.set_result(b"null")
        return answer


def collection(store: ServiceStore, name: str, *, status: str = "ready") -> Collection:
    index = {"dense": False, "sparse": True, "chunker": "auto", "model": "static"}
    made = store.collections.add("ada", name, description="", source={}, index=index)
    store.collections.change(made.id, status=status, snapshot="s1")
    return store.collections.get(made.id)


def warmed(
    pool: FakePool, store: ServiceStore, *, until: int, added: tuple[Collection, ...] = ()
) -> list[float]:
    """Run a warm-up until *until* requests were made; return its pauses."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def scenario() -> None:
        warm_up = SearchWarmUp(pool, store, pause=pause)
        running = asyncio.create_task(warm_up.run())
        while len(pool.asked) < until:
            await asyncio.sleep(0)
        for each in added:
            warm_up.add(each)
        for _ in range(20):
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(scenario())
    return pauses


def test_the_collections_that_were_used_last(store: ServiceStore, tmp_path: Path) -> None:
    make_benchmark(store, tmp_path / "notes")
    (measured,) = store.collections.page().items
    store.collections.change(measured.id, status="ready", snapshot="s1")
    collection(store, "Older")
    newest = collection(store, "Newest")
    collection(store, "Broken", status="failed")
    pool = FakePool()
    warmed(pool, store, until=2)
    assert pool.asked == [measured.id, newest.id]


def test_one_that_is_opened_once(store: ServiceStore) -> None:
    first, pool = collection(store, "First"), FakePool()
    failed = collection(store, "Broken", status="failed")
    again = replace(first, snapshot="s2")
    warmed(pool, store, until=1, added=(first, failed, again, again))
    assert pool.asked == [first.id, first.id]
    assert pool.warm == {search_subject(first), search_subject(again)}


def test_it_waits_for_other_work_and_survives_errors(store: ServiceStore) -> None:
    first, second = collection(store, "First"), collection(store, "Second")
    pool = FakePool(Conflict("working"), StoreUnavailable("away"), EngineError("no model"))
    pauses = warmed(pool, store, until=4)
    assert pool.asked == [second.id] * 3 + [first.id]
    assert pauses == [RETRY_S, RETRY_S]
    assert pool.warm == {search_subject(first)}


def test_a_search_finds_it_in_memory(
    settings: ServiceSettings, store: ServiceStore, tmp_path: Path
) -> None:
    from karat.extensions.service.analysts.analyst import answers
    from karat.extensions.service.collections import AllowedFolders, index_collection

    make_benchmark(store, tmp_path / "notes")
    (made,) = store.collections.page().items
    folders = AllowedFolders((tmp_path,), tmp_path / "uploads")
    snapshot = index_collection(made, folders).snapshot
    store.collections.change(made.id, status="ready", snapshot=snapshot)

    def message(operation: str, **arguments: object) -> dict[str, object]:
        context = {"store": settings.store, "roots": [str(tmp_path)], "uploads": ""}
        asked = {"collection": made.id, **arguments}
        return {**context, "operation": operation, "arguments": asked}

    query = {"query": "letters", "modes": ["sparse"], "use_reranker": False, "top_k": 3}
    asked = iter([message("warm"), message("warm"), message("search", **query)])
    answering = answers(asked)
    with announce("compare"):
        assert next(answering) == {"error": "Conflict", "message": "another karat run is working"}
    assert next(answering).get("body") == b"null"
    # The documents are gone; they are in memory.
    for path in (tmp_path / "notes").iterdir():
        path.rename(path.with_suffix(".gone"))
    assert b'"mode":"sparse"' in next(answering)["body"]
    answering.close()
