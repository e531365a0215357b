"""A parameter reaches the search of every adapter: here the number of hits."""

from collections.abc import Callable
from typing import Any

import pytest

from karat.corpus import Corpus
from karat.engines.spec import build
from karat.testing.engines import DOCUMENTS

ASKED = {"root": "{root}", "query": "{query}", "limit": "{limit}"}


class Limited:
    """Returns the first files of the corpus."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def initialize(self, repo_path: str) -> None:
        self.root = repo_path

    def retrieve(self, query: str) -> Any:
        from karat.engines import RetrievalResult

        return RetrievalResult(files=list(DOCUMENTS)[: self.limit], scores=[])

    def reset(self) -> None:
        """Keep nothing."""


Config = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def configs(toy: list[str], http_service: str, mcp_service: str) -> dict[str, Config]:
    """Return the configuration of each adapter, by the values of its parameters."""
    found = {"hits": "$.data.found[*].doc"}

    def http(**options: Any) -> Config:
        return lambda values: {"engine": "http", **found, **options, "parameters": values}

    address = f"{http_service}/?root={{root}}&q={{query}}&n={{limit}}"
    command = [*toy, "once", "{root}", "{query}", "{limit}"]
    return {
        "command": lambda values: {"engine": "command", "command": command, "parameters": values},
        "address": http(url=address),
        "body": http(url=http_service, body=ASKED),
        "mcp": lambda values: {
            "engine": "mcp",
            "url": mcp_service,
            "tool": "find",
            "arguments": ASKED,
            "parameters": values,
        },
        "python": lambda values: {
            "engine": "python",
            "class": f"{__name__}:Limited",
            "options": values,
        },
    }


@pytest.mark.parametrize("adapter", ["command", "address", "body", "mcp", "python"])
def test_another_value_is_another_search(
    adapter: str, configs: dict[str, Config], corpus: Corpus
) -> None:
    for package in ("httpx", "mcp"):
        pytest.importorskip(package)
    counts = []
    for limit in ("1", "2"):
        engine = build(configs[adapter]({"limit": limit}))
        engine.index(corpus)
        counts.append(len(engine.search("password login user", 10)))
        engine.close()
    assert counts == [1, 2]


def test_a_process_is_started_with_its_value(toy: list[str], corpus: Corpus) -> None:
    engine = build(
        {"engine": "process", "command": [*toy, "{mode}"], "parameters": {"mode": "serve"}}
    )
    engine.index(corpus)
    assert engine.search("password", 10)
    engine.close()
