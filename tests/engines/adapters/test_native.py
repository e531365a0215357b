"""A class that speaks Karat's protocol: its errors are its own, and its hits are checked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.adapters.python import NativeEngine, adapted
from karat.engines.base import ExplainedHit
from karat.engines.builtin import bm25
from karat.errors import EngineError
from karat.model import Hit
from karat.testing import EngineSuite

FILES = {"src/auth.py": "def login(user):\n    return user\n", "src/mail.py": "mail = 1\n"}


class Giving:
    """Answers every query with what it was made with, and remembers what it was asked to do."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer
        self.calls: list[str] = []

    def index(self, corpus: Corpus) -> None:
        self.calls.append(f"index {corpus.name}")

    def search(self, query: str, k: int) -> Any:
        return self.answer()

    def close(self) -> None:
        self.calls.append("close")


class Moving(Giving):
    def show(self, corpus: Corpus) -> None:
        self.calls.append(f"show {corpus.name}")

    def explain(self, query: str, k: int) -> Sequence[ExplainedHit]:
        hits = self.search(query, k)
        return [ExplainedHit(hit, {"words": float(rank)}) for rank, hit in enumerate(hits)]

    def phases_ns(self) -> Mapping[str, int]:
        return {"think": 5}

    def index_bytes(self) -> int:
        return 42


def giving(*hits: object) -> NativeEngine:
    engine = NativeEngine(Giving(lambda: hits), "mine")
    engine.index(from_texts(FILES))
    return engine


class TestNative(EngineSuite):
    """One of Karat's engines behind the adapter keeps the law, and can do all that it could."""

    @pytest.fixture
    def engine(self) -> Any:
        return adapted(bm25(cache=False), "wrapped")


def test_an_exception_names_the_engine() -> None:
    def broken() -> object:
        raise ValueError("no json")

    engine = adapted(Giving(broken), "Some")
    engine.index(from_texts(FILES))
    with pytest.raises(EngineError, match=r"^Some: ValueError: no json$"):
        engine.search("login", 3)


def test_an_exception_of_index_leaves_nothing_searchable() -> None:
    engine = giving(Hit("src/auth.py", 1.0))
    engine.engine.index = lambda _: int("one")
    with pytest.raises(EngineError, match="mine: ValueError"):
        engine.index(from_texts(FILES))
    with pytest.raises(EngineError, match="before index"):
        engine.search("login", 3)


def test_hits_are_checked_and_counted() -> None:
    engine = giving(
        Hit("/etc/passwd", 4.0),
        Hit("gone.py", 3.0),
        Hit("src/auth.py", 2.0, 1, 9),
        Hit("src/mail.py"),
    )
    assert engine.search("login", 9) == (
        Hit("src/auth.py", 1.0, 1, 2),
        Hit("src/mail.py", 0.5),
    )
    assert engine.invalid == {"outside the root": 1, "not in the corpus": 1}
    assert engine.mended == {"end past the last line": 1, "score missing": 1}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "search returned NoneType; expected a list of hits"),
        (["src/auth.py"], "returned str among its hits; expected karat.Hit"),
        ([Hit("src/auth.py", "high")], "is not a hit"),  # type: ignore[arg-type]
        ([Hit("src/auth.py", 1.0, None)], "is not a hit"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_answer(answer: object, message: str) -> None:
    engine = NativeEngine(Giving(lambda: answer), "mine")
    engine.index(from_texts(FILES))
    with pytest.raises(EngineError, match=message):
        engine.search("login", 3)


def test_it_can_do_what_the_engine_can() -> None:
    target = Moving(lambda: [Hit("/nowhere", 3.0), Hit("./src/auth.py", 2.0)])
    engine: Any = NativeEngine(target, "mine")
    engine.index(from_texts(FILES, name="one"))
    engine.show(from_texts(FILES, name="two"))
    assert engine.explain("login", 3) == [ExplainedHit(Hit("src/auth.py", 2.0), {"words": 1.0})]
    assert engine.phases_ns()["think"] == 5
    assert engine.index_bytes() == 42
    engine.close()
    assert target.calls == ["index one", "show two", "close"]


def test_what_the_engine_lacks_is_the_default() -> None:
    engine = giving(hit := Hit("src/auth.py", 2.0))
    engine.reset()
    engine.watch(None)
    engine.expect(["login"])
    assert (engine.work(), engine.index_bytes(), engine.metadata()) == ({}, 0, {})
    assert engine.explain("login", 3) == [ExplainedHit(hit, {})]
    assert engine.engine.calls == ["index texts"]


def test_one_that_does_not_move_indexes_again() -> None:
    engine = giving(Hit("other.py", 1.0))
    assert engine.search("x", 1) == ()
    engine.show(from_texts({"other.py": "x"}, name="other"))
    assert engine.search("x", 1) == (Hit("other.py", 1.0),)
    assert engine.engine.calls[1:] == ["index other"]
