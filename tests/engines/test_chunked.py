"""The built-in engines keep the law, and order code as its readers expect."""

import numpy as np
import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import Engine
from karat.engines.builtin import bm25, dense, hybrid
from karat.engines.chunked import ChunkEngine, Recipe
from karat.engines.fusion import Scores
from karat.engines.places import Places, tokens
from karat.engines.ranking import RankingRules
from karat.errors import EngineError, InputError
from karat.testing.engines import EngineSuite

FUNCTION = "def {name}(user):\n    '''Log the user in with a password.'''\n    return user\n"


class TestBm25(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return bm25()


class TestDense(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return dense(model="static")

    def test_finds_what_is_there(self, engine: Engine, corpus: Corpus) -> None:
        """Embeddings find what is meant, and promise nothing about single words."""
        engine.index(corpus)
        found = {hit.path for hit in self.search(engine, corpus, "how do I log in", 3)}
        assert found & {"src/auth.py", "docs/guide.md"}


class TestHybrid(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return hybrid(model="static", fusion="rrf")


def found(engine: ChunkEngine, query: str, texts: dict[str, str], k: int = 10) -> list[str]:
    engine.index(from_texts(texts))
    return [hit.path for hit in engine.search(query, k)]


def test_production_code_stands_above_its_test_and_its_copies() -> None:
    text = FUNCTION.format(name="login")
    texts = {"tests/test_auth.py": text, "src/auth.py": text, "vendor/auth.py": text}
    assert found(bm25(header=0), "log in with a password", texts)[0] == "src/auth.py"
    plain = found(bm25(header=0, code_ranking=False), "log in with a password", texts)
    assert plain == sorted(texts)


def test_a_definition_that_the_query_spells_out_comes_first() -> None:
    texts = {
        "a.py": "def other():\n    return check_login(check_login(check_login()))\n",
        "b.py": "def check_login():\n    return 1\n",
    }
    assert found(bm25(header=1), "check_login", texts)[0] == "b.py"


def test_files_are_mixed_only_where_files_are_judged() -> None:
    many = "\n\n".join(f"def login_{n}(password):\n    return login(password)" for n in range(60))
    texts = {"a.py": many, "b.py": "def mail(login, password):\n    return 0\n"}
    by_lines = found(bm25(chunker="lines"), "login password", texts, k=3)
    by_file = found(bm25(chunker="lines", unit="file"), "login password", texts, k=3)
    assert by_lines == ["a.py", "a.py", "a.py"]
    assert set(by_file) == {"a.py", "b.py"}


def test_scores_never_rise_down_the_list() -> None:
    engine = bm25(unit="file", chunker="lines")
    engine.index(from_texts({f"{n}.py": FUNCTION.format(name=f"login{n}") * 20 for n in range(3)}))
    scores = [hit.score for hit in engine.search("login password", 20)]
    assert scores == sorted(scores, reverse=True)


def test_each_stage_tells_its_score() -> None:
    engine = hybrid(model="static")
    engine.index(from_texts({"a.py": FUNCTION.format(name="login"), "b.py": "x = 1\n"}))
    first = engine.explain("login", 1)[0]
    assert first.hit.path == "a.py"
    assert set(first.stages) == {"bm25", "dense"}
    assert first.stages["bm25"] > 0
    assert set(engine.phases_ns()) == {"bm25", "dense"}


def test_a_threshold_drops_what_is_far_below_the_best() -> None:
    texts = {"a.py": "login password login", "b.py": "the password of a long story " * 9}
    assert len(found(bm25(), "login password", texts)) == 2
    assert found(bm25(threshold=0.9), "login password", texts) == ["a.py"]


class Constant:
    """A stage that likes every place alike."""

    name = "constant"

    def index(self, places: Places) -> None:
        self.size = len(places)

    def scores(self, query: str) -> Scores:
        return np.ones(self.size, np.float32)


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    engine = ChunkEngine([Constant()], name="constant", recipe=Recipe(rules=RankingRules()))
    assert found(engine, "x", {"b.md": "b", "a.md": "a"}) == ["a.md", "b.md"]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="no stage"):
        ChunkEngine([], name="nothing")
    with pytest.raises(InputError, match="unit 'page'"):
        bm25(unit="page")
    with pytest.raises(InputError, match="threshold"):
        bm25(threshold=2.0)
    with pytest.raises(EngineError, match="search before index"):
        bm25().search("x", 1)


def test_tokens_are_never_none() -> None:
    assert tokens("") == 1
