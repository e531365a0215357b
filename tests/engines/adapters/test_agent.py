"""An agent that answers in parts, or tells what it has cost."""

from collections.abc import Iterator

import pytest

from karat.corpus import Corpus
from karat.engines.adapters.python import AgentEngine
from karat.engines.base import RetrievalResult
from karat.errors import EngineError


class Streaming:
    """Yields one file after the other, and what it has cost with the last."""

    def initialize(self, repo_path: str) -> None:
        pass

    def retrieve(self, query: str) -> Iterator[RetrievalResult]:
        yield RetrievalResult([], metadata={"model": "small"})
        yield RetrievalResult(["src/mail.py"])
        if query == "break":
            raise RuntimeError("connection lost")
        yield RetrievalResult(["src/auth.py"], metadata={"tokens": 12})

    def reset(self) -> None:
        pass


class Whole(Streaming):
    def retrieve(self, query: str) -> RetrievalResult:  # type: ignore[override]
        return RetrievalResult([query], metadata={"cost": 0.5})


def opened(agent: object, corpus: Corpus) -> AgentEngine:
    engine = AgentEngine(agent, "agent")
    engine.index(corpus)
    return engine


def test_parts_are_joined_in_their_order(corpus: Corpus) -> None:
    with opened(Streaming(), corpus) as engine:
        hits = engine.search("mail", 10)
        assert [hit.path for hit in hits] == ["src/mail.py", "src/auth.py"]
        assert 0 < engine.phases_ns()["first_hit"] <= engine.phases_ns()["call"]
        assert engine.metadata() == {"model": "small", "tokens": 12}


def test_a_stream_that_breaks_is_an_error(corpus: Corpus) -> None:
    with opened(Streaming(), corpus) as engine:
        with pytest.raises(EngineError, match="agent: RuntimeError: connection lost"):
            engine.search("break", 10)
        assert engine.metadata() == {}


def test_a_whole_answer_has_no_first_hit(corpus: Corpus) -> None:
    with opened(Whole(), corpus) as engine:
        engine.search("src/auth.py", 1)
        assert "first_hit" not in engine.phases_ns()
        assert engine.metadata() == {"cost": 0.5}
