import asyncio

import pytest

from karat.errors import InputError
from karat.extensions.service.api.state import ResponseCache


def test_an_answer_is_made_once() -> None:
    made: list[str] = []

    async def scenario() -> list[bytes]:
        answers, ready = ResponseCache(), asyncio.Event()

        async def make() -> bytes:
            made.append("x")
            await ready.wait()
            return b"1"

        asking = [asyncio.create_task(answers.get("k", make)) for _ in range(3)]
        # Who goes away does not take the answer from the others.
        await asyncio.wait(asking, timeout=0.01)
        asking[0].cancel()
        ready.set()
        others = await asyncio.gather(*asking[1:])
        return [*others, await answers.get("k", make)]

    assert asyncio.run(scenario()) == [b"1"] * 3
    assert made == ["x"]


def test_an_error_is_not_kept() -> None:
    async def scenario() -> bytes:
        answers = ResponseCache()

        async def fail() -> bytes:
            raise InputError("wrong")

        async def make() -> bytes:
            return b"1"

        with pytest.raises(InputError, match="wrong"):
            await answers.get("k", fail)
        return await answers.get("k", make)

    assert asyncio.run(scenario()) == b"1"


def test_what_nobody_asks_for_is_forgotten() -> None:
    made: list[str] = []

    async def scenario() -> None:
        answers = ResponseCache(max_entries=2)

        async def ask(key: str) -> bytes:
            async def make() -> bytes:
                made.append(key)
                return key.encode()

            return await answers.get(key, make)

        for key in "abacab":
            await ask(key)

    asyncio.run(scenario())
    assert "".join(made) == "abcb"


def test_one_that_is_not_kept_is_shared_only_while_it_is_made() -> None:
    made: list[str] = []

    async def scenario() -> None:
        answers = ResponseCache()

        async def make() -> bytes:
            made.append("x")
            return b"1"

        await asyncio.gather(*(answers.get("k", make, keep=False) for _ in range(3)))
        await answers.get("k", make, keep=False)

    asyncio.run(scenario())
    assert made == ["x", "x"]
