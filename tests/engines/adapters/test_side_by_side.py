"""One small search reached in every way, and ripgrep: all are held to the law of engines."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from karat.corpus import Corpus
from karat.engines.adapters.python import adapted
from karat.engines.base import Engine, RetrievalAgent, RetrievalResult
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.testing import EngineSuite


def opened(config: dict[str, Any]) -> Iterator[Engine]:
    engine: Any = build(config)
    yield engine
    engine.close()


def count(text: str, query: str) -> int:
    return len(set(re.findall(r"\w+", query.lower())) & set(re.findall(r"\w+", text.lower())))


class OutsideSuite(EngineSuite):
    """A search that starts anew for each snapshot, or for each query, takes its time."""

    chains = 2


class TestRipgrep(OutsideSuite):
    @pytest.fixture
    def engine(self, ripgrep: str) -> Iterator[Engine]:
        arguments = ["--json", "--ignore-case", "--no-config", "--sort", "path"]
        command = [ripgrep, *arguments, "--regexp", "{words}", "{root}"]
        yield from opened({"engine": "command", "command": command, "output": "rg"})


class TestCommand(OutsideSuite):
    @pytest.fixture
    def engine(self, toy: list[str]) -> Iterator[Engine]:
        command = [*toy, "once", "{root}", "{query}", "{k}"]
        yield from opened({"engine": "command", "command": command})


class TestProcess(OutsideSuite):
    @pytest.fixture
    def engine(self, toy: list[str]) -> Iterator[Engine]:
        yield from opened({"engine": "process", "command": [*toy, "serve"]})


class TestHttp(OutsideSuite):
    @pytest.fixture
    def engine(self, http_service: str) -> Iterator[Engine]:
        body = {"root": "{root}", "query": "{query}", "limit": "{k}"}
        places = {"path": "doc.path", "score": "$.doc.score", "hits": "$.data.found[*]"}
        lines = {"start_line": "doc.start_line", "end_line": "doc.end_line"}
        config = {"engine": "http", "url": f"{http_service}/search", "body": body}
        yield from opened({**config, **places, **lines})


class TestHttpGet(OutsideSuite):
    @pytest.fixture
    def engine(self, http_service: str) -> Iterator[Engine]:
        url = f"{http_service}/search?q={{query}}&n={{k}}&root={{root}}"
        yield from opened({"engine": "http", "url": url, "hits": "data.found[*].doc"})


class TestMcpStdio(OutsideSuite):
    """The server is written without the SDK; test_mcp.py starts servers of the SDK this way."""

    @pytest.fixture
    def engine(self, toy: list[str]) -> Iterator[Engine]:
        values = {"root": "{root}", "query": "{query}", "limit": "{k}"}
        config = {"engine": "mcp", "command": [*toy, "mcp-by-hand"], "tool": "find"}
        yield from opened({**config, "arguments": values})


class TestMcpHttp(OutsideSuite):
    @pytest.fixture
    def engine(self, mcp_service: str) -> Iterator[Engine]:
        values = {"root": "{root}", "query": "{query}", "limit": "{k}"}
        config = {"engine": "mcp", "url": mcp_service, "tool": "find", "arguments": values}
        yield from opened(config)


class Plain:
    """Karat's own protocol, by hand."""

    name = "plain"

    def __init__(self) -> None:
        self.texts: dict[str, str] | None = None

    def index(self, corpus: Corpus) -> None:
        self.texts = {document.path: text for document, text in corpus.texts()}

    def search(self, query: str, k: int) -> Sequence[Hit]:
        if k < 1:
            raise InputError("k is a whole number from 1 up")
        if self.texts is None:
            raise EngineError("plain: search was called before index")
        scored = [Hit(path, count(text, query)) for path, text in self.texts.items()]
        return sorted((hit for hit in scored if hit.score), key=lambda hit: -hit.score)[:k]


class TestPlainClass(EngineSuite):
    @pytest.fixture
    def engine(self) -> Engine:
        return adapted(Plain(), "plain")


class Agent(RetrievalAgent):
    """Reads the files of a repository."""

    def initialize(self, repo_path: str) -> None:
        root = Path(repo_path)
        files = sorted(path for path in root.rglob("*") if path.is_file())
        self.texts = {str(path): path.read_text(encoding="utf-8") for path in files}

    def retrieve(self, query: str) -> RetrievalResult:
        scored = {path: count(text, query) for path, text in self.texts.items()}
        files = sorted((path for path in scored if scored[path]), key=lambda path: -scored[path])
        return RetrievalResult(files, [float(scored[path]) for path in files])

    def reset(self) -> None:
        """Nothing is cached."""


class TestAgent(EngineSuite):
    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        engine: Any = adapted(Agent(), "agent")
        yield engine
        engine.close()


class StoreResult(NamedTuple):
    file_path: str
    symbol_name: str
    score: float


class Store:
    """An asynchronous store."""

    async def index(self, root: str) -> None:
        await asyncio.sleep(0)
        self.agent = Agent()
        self.agent.initialize(root)

    async def search(
        self, query: str, limit: int, *, use_reranker: bool = False
    ) -> list[StoreResult]:
        await asyncio.sleep(0)
        result = self.agent.retrieve(query)
        pairs = list(zip(result.files, result.scores, strict=True))[:limit]
        return [StoreResult(path, "reranked" * use_reranker, score) for path, score in pairs]


class TestStore(EngineSuite):
    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        engine: Any = adapted(Store(), "store", use_reranker=True)
        yield engine
        engine.close()
