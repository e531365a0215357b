"""A second look keeps the law, reorders the first hits and leaves the others behind them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.corpus import Corpus, from_texts
from karat.engines.base import Engine, contract_violations
from karat.engines.builtin import bm25
from karat.engines.keyword import KeywordEngine
from karat.engines.rerank import RerankEngine, Reranker
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.testing import EngineSuite

OVERLAP = "model=tests.engines.rerank.test_engine:overlap"


class Overlap(Reranker):
    """The share of the query's words that a text holds."""

    name = "overlap"
    weight = 0.5

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        words = query.lower().split()
        return np.array([sum(word in text.lower() for word in words) for text in texts], float)


def overlap(_: str) -> Overlap:
    return Overlap()


class Given(Reranker):
    """Gives the scores that it was made with, and remembers what it was asked."""

    name = "given"
    weight = 1.0

    def __init__(self, *scores: float) -> None:
        self.given = np.array(scores)
        self.texts: Sequence[str] = ()

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        self.texts = texts
        return self.given[: len(texts)]


class Fixed(Engine):
    """An engine that finds the same files for every query, each with its score."""

    name = "fixed"
    thread_safe = False

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores

    def index(self, corpus: Corpus) -> None:
        pass

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit(path, score) for path, score in self.scores.items()][:k]


class TestOverBm25(EngineSuite):
    @pytest.fixture
    def engine(self) -> RerankEngine:
        return RerankEngine(bm25(), Overlap(), depth=3)


class TestOverGrep(EngineSuite):
    @pytest.fixture
    def engine(self) -> Iterator[RerankEngine]:
        engine = RerankEngine(KeywordEngine(window=3), Overlap())
        yield engine
        engine.close()


FOUND = {"a": 8.0, "b": 6.0, "c": 4.0, "d": 3.0, "e": 2.5}
CORPUS = from_texts(dict.fromkeys(FOUND, "text\n"))


def over(scores: Mapping[str, float], reranker: Given, **options: float) -> RerankEngine:
    engine = RerankEngine(Fixed(scores), reranker, **options)  # type: ignore[arg-type]
    engine.index(CORPUS)
    return engine


def test_worked_by_hand() -> None:
    engine = over(FOUND, Given(1.0, 3.0, 2.0), depth=3, weight=0.25)
    hits = engine.search("x", 10)
    # First, spread over 0 to 1: 1, .5, 0; second: 0, 1, .5.
    expected = [("a", 0.75), ("b", 0.625), ("c", 0.125), ("d", -0.875), ("e", -1.375)]
    assert [(hit.path, hit.score) for hit in hits] == expected


def test_the_reranker_alone() -> None:
    engine = over(FOUND, Given(1.0, 3.0, 2.0), depth=3)
    assert [hit.path for hit in engine.search("x", 10)] == ["b", "c", "a", "d", "e"]
    assert [hit.path for hit in engine.search("x", 1)] == ["b"]


def test_a_threshold_holds_for_the_joint_score() -> None:
    reranker = Given(1.0, 3.0, 2.0)
    engine = RerankEngine(Fixed(FOUND), reranker, depth=3, weight=0.25, threshold=0.2)
    engine.index(CORPUS)
    assert [hit.path for hit in engine.search("x", 10)] == ["a", "b"]
    with pytest.raises(InputError, match="threshold 2 is not between"):
        RerankEngine(Fixed(FOUND), reranker, threshold=2)


class Telling(Fixed):
    """Tells what there is to tell of indexing and searching."""

    def __init__(self) -> None:
        super().__init__({"a": 1.0})
        self.heard: list[object] = []

    def reset(self) -> None:
        self.heard.append("reset")

    def watch(self, progress: object) -> None:
        self.heard.append(progress)

    def work(self) -> Mapping[str, int]:
        return {"rows": 3}

    def index_bytes(self) -> int:
        return 40

    def metadata(self) -> Mapping[str, object]:
        return {"tokens": 5}


def test_what_the_first_search_tells_is_told() -> None:
    engine = RerankEngine(first := Telling(), Overlap())
    engine.reset()
    engine.watch(None)
    assert first.heard == ["reset", None]
    assert (engine.work(), engine.index_bytes(), engine.metadata()) == (
        {"rows": 3},
        40,
        {"tokens": 5},
    )


def test_a_first_search_that_tells_nothing() -> None:
    engine = RerankEngine(Fixed(FOUND), Overlap())
    engine.reset()
    engine.watch(None)
    assert (engine.work(), engine.index_bytes(), engine.metadata()) == ({}, 0, {})


def test_equal_scores_stay_as_they_were() -> None:
    engine = over(FOUND, Given(*[7.0] * 5))
    assert [hit.path for hit in engine.search("x", 10)] == list(FOUND)


def test_each_stage_tells_its_score() -> None:
    engine = over(FOUND, Given(1.0, 3.0), depth=2)
    stages = [explained.stages for explained in engine.explain("x", 3)]
    assert stages == [
        {"fixed": 6.0, "rerank": 3.0},
        {"fixed": 8.0, "rerank": 1.0},
        {"fixed": 4.0},
    ]
    assert set(engine.phases_ns()) == {"retrieve", "rerank"}
    both = RerankEngine(bm25(), Overlap())
    both.index(from_texts({"a.py": "login"}))
    assert both.explain("login", 1)[0].stages.keys() == {"bm25", "rerank"}


@given(
    st.lists(st.floats(-1e6, 1e6), max_size=5),
    st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=5),
    st.integers(1, 6),
    st.integers(1, 6),
    st.floats(0, 1),
)
def test_any_scores_keep_the_law(
    first: list[float], second: list[float], depth: int, k: int, weight: float
) -> None:
    scores = dict(zip(FOUND, sorted(first, reverse=True), strict=False))
    engine = over(scores, Given(*second), depth=depth, weight=weight)
    hits = engine.search("x", k)
    assert contract_violations(hits, CORPUS, k) == []
    assert {hit.path for hit in engine.search("x", 9)} == scores.keys()
    assert [hit.path for hit in hits] == [hit.path for hit in engine.search("x", 9)][:k]
    behind = [hit.path for hit in engine.search("x", 9)][depth:]
    assert behind == list(scores)[depth:]


def test_what_is_read_is_what_embeddings_see() -> None:
    engine = RerankEngine(bm25(), reranker := Given(1.0))
    engine.index(from_texts({"src/auth.py": "class Session:\n    def login(self):\n        ...\n"}))
    engine.search("login", 1)
    assert reranker.texts == [
        "src/auth.py\nSession login\nclass Session:\n    def login(self):\n        ...\n"
    ]


@pytest.mark.parametrize(
    ("scores", "message"),
    [((1.0,), r"shape \(1,\) for 5 texts"), ((np.nan,) * 5, "a score is not finite")],
)
def test_a_broken_reranker_says_so(scores: tuple[float, ...], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        over(FOUND, Given(*scores)).search("x", 3)


def test_threads_as_the_first_search_declares() -> None:
    assert RerankEngine(bm25(), Overlap()).thread_safe
    assert not RerankEngine(Fixed({}), Overlap()).thread_safe


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            f"rerank(over=bm25, {OVERLAP}, depth=0)",
            "depth is 0; expected a number of hits from 1 up",
        ),
        (
            f"rerank(over=bm25, {OVERLAP}, weight=2)",
            "weight is 2.0; expected 0 to 1",
        ),
        ("rerank(over=bm52)", "no engine named 'bm52'; did you mean 'bm25'"),
        ("rerank(over=bm25, model=cros:x)", "cannot load reranker 'cros:x'"),
        ({"engine": "rerank", "over": {"engine": "bm25", "k": 1}}, "bm25: no option 'k'"),
    ],
)
def test_what_is_refused(spec: str | dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build(spec)
    assert message in str(caught.value)


def test_an_engine_within_an_engine() -> None:
    spec = "rerank(over=rerank(over=bm25(k1=1.2, b=0.5), depth=9), model=maxsim:minilm, depth=5)"
    assert parse_spec(spec).params == {
        "over": "rerank(over=bm25(k1=1.2, b=0.5), depth=9)",
        "model": "maxsim:minilm",
        "depth": "5",
    }
