"""The pool of analysts: who runs when, and what the death of a process means."""

import asyncio
import json
import os
import signal
from collections.abc import Callable, Coroutine
from queue import Queue
from threading import Event
from typing import Any

import pytest

from karat.errors import AnalysisError, Conflict, KaratError, ProcessError, UnknownName
from karat.extensions.service.analysts import pool as analyst_pool
from karat.extensions.service.analysts.pool import AnalystPool, Priority
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.system.processes import Message
from tests.extensions.service.conftest import PATIENCE_S

# The function itself: the fixture of all tests of the service replaces it.
START = analyst_pool.start_analyst
MAX_BYTES = 1_000


class FakeChild:
    """Answers with the name of the operation, once the test lets it; ``die`` ends it."""

    def __init__(self, script: "Script") -> None:
        self.script = script
        self.pid = len(script.children) + 1
        self.killed = Event()
        script.children.append(self)

    def request(self, message: Message, _timeout_s: float) -> Message:
        operation = message["operation"]
        self.script.started.put((operation, self.pid))
        if operation == "die" or (operation == "die once" and self.pid == 1):
            raise EOFError
        if operation == "late":
            raise TimeoutError
        gate = self.script.gates.get(operation)
        assert gate is None or gate.wait(PATIENCE_S)
        if operation == "wrong":
            return {"error": "Conflict", "message": "not now"}
        if operation == "bug":
            return {"error": "ZeroDivisionError", "message": "Traceback"}
        self.body = json.dumps(operation).encode()
        return {"body": len(self.body), "memory": MAX_BYTES + (operation == "large")}

    def receive_bytes(self, _count: int, _deadline: float) -> bytes:
        return self.body

    def exit_reason(self) -> str:
        return "its process was ended by SIGKILL"

    def kill(self) -> None:
        self.killed.set()

    def interrupt_tree(self) -> None:
        for gate in self.script.gates.values():
            gate.set()

    close_input = close = kill


class Script:
    """What the fake processes do: those with a gate wait for it."""

    def __init__(self, *gated: str) -> None:
        self.started: Queue[tuple[str, int]] = Queue()
        self.gates = {name: Event() for name in gated}
        self.children: list[FakeChild] = []

    async def next(self) -> tuple[str, int]:
        """Return the operation that has started next, and its process."""
        return await asyncio.to_thread(self.started.get, timeout=PATIENCE_S)

    async def names(self, count: int) -> set[str]:
        return {(await self.next())[0] for _ in range(count)}


Scenario = Callable[[AnalystPool], Coroutine[Any, Any, None]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what runs a scenario with a pool of fake processes."""

    def run(script: Script, scenario: Scenario, *, size: int = 2) -> None:
        monkeypatch.setattr(analyst_pool, "start_analyst", lambda: FakeChild(script))

        async def whole() -> None:
            pool = AnalystPool({"store": "x"}, size=size, max_bytes=MAX_BYTES)
            try:
                await asyncio.wait_for(scenario(pool), PATIENCE_S)
            finally:
                for gate in script.gates.values():
                    gate.set()
                await pool.close()

        asyncio.run(whole())

    return run


def test_another_subject_does_not_wait(play: Callable[..., None]) -> None:
    script = Script("heavy")

    async def scenario(pool: AnalystPool) -> None:
        heavy = pool.request("heavy", subject="a")
        same = pool.request("same", subject="a")
        assert await pool.request("small", subject="b") == b'"small"'
        assert script.started.get() == ("heavy", 1)
        assert script.started.get() == ("small", 2)
        assert script.started.empty()
        script.gates["heavy"].set()
        assert await heavy == b'"heavy"'
        # The process that has the subject in memory takes it.
        assert await same == b'"same"'
        assert script.started.get() == ("same", 1)
        assert await pool.request("more", subject="b") == b'"more"'
        assert script.started.get() == ("more", 2)
        assert pool.has("a")
        assert not pool.has("c")

    play(script, scenario)


def test_one_owner_never_has_all_analysts(play: Callable[..., None]) -> None:
    script = Script("a1", "a2", "b1", "c1")

    async def scenario(pool: AnalystPool) -> None:
        asked = [
            pool.request(name, subject=name, owner=name[0]) for name in ("a1", "a2", "a3", "b1")
        ]
        assert await script.names(2) == {"a1", "b1"}
        asked.append(pool.request("c1", subject="c1", owner="c"))
        # Owners take turns: the third of "a" comes after the first of "c".
        script.gates["a1"].set()
        assert (await script.next())[0] == "a2"
        script.gates["a2"].set()
        assert (await script.next())[0] == "c1"
        for gate in script.gates.values():
            gate.set()
        assert len(await asyncio.gather(*asked)) == 5

    play(script, scenario)


def test_without_tokens_all_share_all_analysts(play: Callable[..., None]) -> None:
    script = Script("one", "two")

    async def scenario(pool: AnalystPool) -> None:
        asked = [pool.request(name, subject=name) for name in ("one", "two", "three")]
        assert await script.names(2) == {"one", "two"}
        assert script.started.empty()
        script.gates["one"].set()
        script.gates["two"].set()
        assert await asyncio.gather(*asked) == [b'"one"', b'"two"', b'"three"']
        assert len(pool.pids) == 2

    play(script, scenario)


def test_judging_and_search_do_not_wait_for_statistics(play: Callable[..., None]) -> None:
    script = Script("one", "two")

    async def scenario(pool: AnalystPool) -> None:
        asked = [pool.request(name, subject=name) for name in ("one", "two")]
        assert await script.names(2) == {"one", "two"}
        quick: dict[str, Any] = {"subject": "q", "priority": Priority.INTERACTIVE}
        assert await pool.request("search", **quick) == b'"search"'
        later = pool.request("statistics", subject="s")
        background = pool.request("warm", subject="w", priority=Priority.BACKGROUND)
        assert await pool.request("search", **quick) == b'"search"'
        assert [await script.next() for _ in range(2)] == [("search", 3), ("search", 3)]
        for gate in script.gates.values():
            gate.set()
        await asyncio.gather(*asked, later, background)
        # Nobody waits for it, so that it comes last; it has the kind of process that searches.
        assert [await script.next() for _ in range(2)][1] == ("warm", 3)

    play(script, scenario)


def test_a_death_is_survived_once(play: Callable[..., None]) -> None:
    script = Script()

    async def scenario(pool: AnalystPool) -> None:
        assert await pool.request("die once", subject="a") == b'"die once"'
        assert [await script.next() for _ in range(2)] == [("die once", 1), ("die once", 2)]
        with pytest.raises(AnalysisError, match="die: the process that computes it died twice"):
            await pool.request("die", subject="a")
        assert await pool.request("next", subject="a") == b'"next"'

    play(script, scenario)
    assert all(child.killed.wait(PATIENCE_S) for child in script.children)
    assert len(script.children) == 4


def test_one_that_takes_too_long_is_not_tried_again(play: Callable[..., None]) -> None:
    script = Script()

    async def scenario(pool: AnalystPool) -> None:
        with pytest.raises(AnalysisError, match="late: no result after 600 s"):
            await pool.request("late", subject="a")
        assert script.children[0].killed.wait(PATIENCE_S)
        assert await pool.request("next", subject="a") == b'"next"'

    play(script, scenario)
    assert len(script.children) == 2


def test_memory_is_freed_by_a_new_process(play: Callable[..., None]) -> None:
    script = Script()

    async def scenario(pool: AnalystPool) -> None:
        for name in ("small", "large", "small"):
            await pool.request(name, subject="a")
        assert [pid for _, pid in script.started.queue] == [1, 1, 2]

    play(script, scenario)


def test_errors_keep_the_process(play: Callable[..., None]) -> None:
    script = Script()

    async def scenario(pool: AnalystPool) -> None:
        with pytest.raises(Conflict, match="not now"):
            await pool.request("wrong", subject="a")
        with pytest.raises(KaratError, match="bug failed") as bug:
            await pool.request("bug", subject="a")
        assert type(bug.value) is KaratError
        assert not pool.has("a")
        assert await pool.request("next", subject="a") == b'"next"'

    play(script, scenario)
    assert len(script.children) == 1


def test_a_process_that_cannot_start(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(pool: AnalystPool) -> None:
        def fail() -> None:
            raise ProcessError("no memory")

        monkeypatch.setattr(analyst_pool, "start_analyst", fail)
        with pytest.raises(AnalysisError, match="no memory"):
            await pool.request("any", subject="a")

    play(Script(), scenario)


def test_a_stop_ends_what_runs_and_what_waits(play: Callable[..., None]) -> None:
    script = Script("runs")

    async def scenario(pool: AnalystPool) -> None:
        runs, waits = (pool.request(name, subject="a") for name in ("runs", "waits"))
        assert await script.next() == ("runs", 1)
        await pool.close()
        assert await runs == b'"runs"'
        with pytest.raises(asyncio.CancelledError):
            await waits
        with pytest.raises(AnalysisError, match="stopping"):
            await pool.request("late", subject="a")

    play(script, scenario)


def test_a_real_process(
    settings: ServiceSettings,
    store: ServiceStore,
    benchmark: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyst_pool, "start_analyst", START)
    context = {"store": settings.store, "roots": [], "uploads": ""}

    async def scenario() -> None:
        pool = AnalystPool(context, size=1, max_bytes=1 << 40)
        try:
            with pytest.raises(Conflict, match="has no completed run yet"):
                await pool.request("results", subject="a", benchmark=benchmark)
            (pid,) = pool.pids
            with pytest.raises(UnknownName, match="no benchmark x"):
                await pool.request("matrix", subject="a", benchmark="x", metric=None)
            assert pool.pids == [pid]
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(Conflict, match="has no completed run yet"):
                await pool.request("results", subject="a", benchmark=benchmark)
            assert pool.pids != [pid]
        finally:
            await pool.close()
        assert pool.pids == []

    asyncio.run(scenario())
