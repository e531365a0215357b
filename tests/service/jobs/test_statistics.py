"""The process that computes: what is wrong with a question is told, and its death is survived."""

import asyncio
import json
import os
import signal

import pytest

from karat.errors import Conflict, KaratError, UnknownName
from karat.service.jobs.statistics import StatisticsProcess
from karat.service.settings import ServiceSettings
from karat.service.store import ServiceStore


def test_questions_and_a_death(
    settings: ServiceSettings, store: ServiceStore, benchmark: str
) -> None:
    process = StatisticsProcess(settings.store)

    async def ask(question: str, **arguments: object) -> object:
        return json.loads(await process.request(question, **arguments))

    try:
        with pytest.raises(Conflict, match="has no completed run yet"):
            asyncio.run(ask("results", benchmark=benchmark))
        child = process._child
        assert child is not None
        with pytest.raises(UnknownName, match="no benchmark x"):
            asyncio.run(ask("matrix", benchmark="x", metric=None))
        assert process._child is child
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(KaratError, match="no statistics could be computed"):
            asyncio.run(ask("results", benchmark=benchmark))
        with pytest.raises(Conflict, match="has no completed run yet"):
            asyncio.run(ask("results", benchmark=benchmark))
        again = process._child
        assert again is not None
        assert again.pid != child.pid
    finally:
        process.close()
    assert process._child is None
