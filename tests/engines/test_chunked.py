"""The built-in engines keep the law, and order code as its readers expect."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import Engine
from karat.engines.builtin import bm25, dense, hybrid
from karat.engines.chunk_index import IndexRecipe
from karat.engines.chunk_table import ChunkLocation, Numbers
from karat.engines.chunked import ChunkEngine
from karat.engines.fusion import Scores
from karat.engines.hit_tokens import tokens
from karat.engines.ranking import PLAIN, RankingRules
from karat.engines.spec import build
from karat.engines.stages import LexicalStage, Stage
from karat.errors import EngineError, InputError
from karat.testing.engines import EngineSuite
from tests.words import WORDS

FUNCTION = "def {name}(user):\n    '''Log the user in with a password.'''\n    return user\n"


class TestBm25(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return bm25()


class TestDense(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return dense(model=WORDS)

    def test_finds_what_is_there(self, engine: Engine, corpus: Corpus) -> None:
        """Embeddings find what is meant, and promise nothing about single words."""
        engine.index(corpus)
        paths = {hit.path for hit in self.search(engine, corpus, "how do I log in", 3)}
        assert paths & {"src/auth.py", "docs/guide.md"}


class TestHybrid(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return hybrid(model=WORDS, fusion="rrf", dense_weight=0.3)


class TestShortChunks(EngineSuite):
    """So short that a file holds one chunk twice, and a note about it in another chunk."""

    chains = 60

    @pytest.fixture
    def engine(self) -> ChunkEngine:
        recipe = IndexRecipe(chunker="lines", chunker_options={"size": 1})
        return ChunkEngine([LexicalStage()], name="short", recipe=recipe)


def paths(engine: ChunkEngine, query: str, texts: dict[str, str], k: int = 10) -> list[str]:
    engine.index(from_texts(texts))
    return [hit.path for hit in engine.search(query, k)]


def test_production_code_stands_above_its_test_and_its_copies() -> None:
    text = FUNCTION.format(name="login")
    texts = {"tests/test_auth.py": text, "src/auth.py": text, "vendor/auth.py": text}
    assert paths(bm25(header=0), "log in with a password", texts)[0] == "src/auth.py"
    plain = paths(bm25(header=0, code_ranking=False), "log in with a password", texts)
    assert plain == sorted(texts)


def test_a_definition_that_the_query_spells_out_comes_first() -> None:
    texts = {
        "a.py": "def other():\n    return check_login(check_login(check_login()))\n",
        "b.py": "def check_login():\n    return 1\n",
    }
    assert paths(bm25(header=1), "check_login", texts)[0] == "b.py"


def test_files_are_mixed_only_where_files_are_judged() -> None:
    many = "\n\n".join(f"def login_{n}(password):\n    return login(password)" for n in range(60))
    texts = {"a.py": many, "b.py": "def mail(login, password):\n    return 0\n"}
    by_lines = paths(bm25(chunker="lines"), "login password", texts, k=3)
    by_file = paths(bm25(chunker="lines", unit="file"), "login password", texts, k=3)
    assert by_lines == ["a.py", "a.py", "a.py"]
    assert set(by_file) == {"a.py", "b.py"}


class Given(Stage):
    """A stage with one score for each place, in the order of the corpus."""

    name = "given"

    def __init__(self, *scores: float, by_words: bool) -> None:
        self.by_words = by_words
        self._scores = np.array(scores, np.float32)

    @property
    def identity(self) -> object:
        return id(self)

    def index(self, places: Sequence[ChunkLocation]) -> None:
        assert len(places) == len(self._scores)

    def scores(self, query: str) -> Scores:
        return self._scores


ONE_LINE_A_CHUNK = IndexRecipe(chunker="lines", chunker_options={"size": 1}, unit="file")
# Four good places, one that is a little better, and one that is far from all of them.
LONG_AND_SHORT = from_texts({"long.py": "a\nb\nc\nd\n", "short.py": "e\n", "x.py": "f\n"})
CLOSE = (0.70, 0.70, 0.69, 0.69, 0.75, 0.60)


@pytest.mark.parametrize(("by_words", "first"), [(False, "short.py"), (True, "long.py")])
def test_many_places_of_a_file_do_not_outweigh_a_nearer_one(by_words: bool, first: str) -> None:
    """By cosines that lie close together; words add up as they are."""
    stage = Given(*CLOSE, by_words=by_words)
    engine = ChunkEngine([stage], name="given", recipe=ONE_LINE_A_CHUNK)
    engine.index(LONG_AND_SHORT)
    hits = engine.search("anything", 6)
    assert hits[0].path == first
    assert [step.hits for step in engine.steps("anything", 6)] == [hits]
    # What is shown is the score itself, which a threshold is compared with.
    assert hits[0].score == pytest.approx(0.75 if first == "short.py" else 0.70)


def test_reciprocal_ranks_are_stretched_before_places_of_a_file_add_up() -> None:
    ranks = [Given(*CLOSE, by_words=False), Given(*CLOSE, by_words=False)]
    firsts = []
    for fusion in ("rrf", "min-max"):
        recipe = replace(ONE_LINE_A_CHUNK, fusion=fusion)
        engine = ChunkEngine(ranks, name="both", recipe=recipe)
        engine.index(LONG_AND_SHORT)
        firsts.append(engine.search("anything", 6)[0].path)
    assert firsts == ["short.py", "short.py"]


def test_without_ranking_rules_the_scores_alone_decide() -> None:
    engine = ChunkEngine(
        [Given(*CLOSE, by_words=False)],
        name="given",
        recipe=replace(ONE_LINE_A_CHUNK, rules=PLAIN),
    )
    engine.index(LONG_AND_SHORT)
    assert [hit.start_line for hit in engine.search("anything", 6)] == [1, 1, 2, 3, 4, 1]


def test_scores_never_rise_down_the_list() -> None:
    engine = bm25(unit="file", chunker="lines")
    engine.index(from_texts({f"{n}.py": FUNCTION.format(name=f"login{n}") * 20 for n in range(3)}))
    scores = [hit.score for hit in engine.search("login password", 20)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("unit", ["lines", "file"])
@pytest.mark.parametrize("fusion", ["min-max", "rrf"])
def test_fusion_hides_nothing_that_a_stage_found(unit: str, fusion: str) -> None:
    texts = {f"{number:03}.py": FUNCTION.format(name=f"log_in_{number}") for number in range(300)}
    corpus = from_texts(texts)
    engine = hybrid(model=WORDS, unit=unit, fusion=fusion, cache=False)
    engine.index(corpus)
    deep = engine.search("log the user in", 1000)
    assert {hit.path for hit in deep} == set(texts)
    assert [hit.score for hit in deep] == sorted((hit.score for hit in deep), reverse=True)
    assert deep[-1].score > 0
    for k in (10, 150, 299):
        assert engine.search("log the user in", k) == deep[:k]
    assert engine.steps("log the user in", 1000)[-1].hits == deep


def test_each_stage_tells_its_score() -> None:
    engine = hybrid(model=WORDS)
    engine.index(from_texts({"a.py": FUNCTION.format(name="login"), "b.py": "x = 1\n"}))
    first = engine.explain("login", 1)[0]
    assert first.hit.path == "a.py"
    assert set(first.stages) == {"bm25", "dense"}
    assert first.stages["bm25"] > 0
    assert set(engine.phases_ns()) == {"bm25", "dense"}


def test_a_threshold_drops_what_is_far_below_the_best() -> None:
    texts = {"a.py": "login password login", "b.py": "the password of a long story " * 9}
    assert len(paths(bm25(), "login password", texts)) == 2
    assert paths(bm25(threshold=0.9), "login password", texts) == ["a.py"]


class Constant(Stage):
    """A stage that likes every place alike."""

    name = "constant"
    identity = "constant"
    by_words = False

    def index(self, places: Sequence[ChunkLocation]) -> None:
        self.size = len(places)

    def scores(self, query: str) -> Scores:
        return np.ones(self.size, np.float32)


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    engine = ChunkEngine([Constant()], name="constant", recipe=IndexRecipe(rules=RankingRules()))
    assert paths(engine, "x", {"b.md": "b", "a.md": "a"}) == ["a.md", "b.md"]


MANUAL = {
    "docs/login.md": "# Log in\n\n" + "Log in with a password, a key or a token. " * 9,
    "docs/mail.md": "# Mail\n\n" + "Send mail to all users. " * 9,
}
README = {"a/README.md": MANUAL["docs/login.md"]}


def test_equal_scores_outside_of_the_main_folder_come_later() -> None:
    recipe = IndexRecipe(rules=replace(RankingRules(), outside=0.9))
    engine = ChunkEngine([Constant()], name="constant", recipe=recipe)
    assert paths(engine, "x", MANUAL | README) == ["docs/login.md", "docs/mail.md", "a/README.md"]
    code = {"a.py": "pass"}
    assert paths(engine, "x", MANUAL | README | code)[0] == "a.py"
    assert paths(engine, "x", MANUAL | README | code)[1] == "a/README.md"


def folder_factors_of(spec: str, texts: dict[str, str]) -> dict[str, float | None]:
    engine = build(spec)
    assert isinstance(engine, ChunkEngine)
    engine.index(from_texts(texts))
    return {each.hit.path: each.ranking.get("folder") for each in engine.explain("log in", 9)}


def test_documents_outside_of_the_main_folder_count_less() -> None:
    factors = folder_factors_of("hybrid(model=tests.words:words, cache=false)", MANUAL | README)
    assert factors["docs/login.md"] == 1.0
    assert factors["a/README.md"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    "spec",
    [
        "hybrid(model=tests.words:words, docs_ranking=false, cache=false)",
        "hybrid(model=tests.words:words, code_ranking=false, cache=false)",
        "hybrid(model=tests.words:words, fusion=rrf, cache=false)",
        "bm25(cache=false)",
        "dense(model=tests.words:words, cache=false)",
    ],
)
def test_folders_do_not_count(spec: str) -> None:
    assert set(folder_factors_of(spec, MANUAL | README).values()) == {None}


def test_folders_do_not_count_beside_code() -> None:
    code = {"src/login.py": "def log_in(): ...\n"}
    factors = folder_factors_of(
        "hybrid(model=tests.words:words, cache=false)", MANUAL | README | code
    )
    assert "src/login.py" in factors
    assert set(factors.values()) == {None}


def test_the_score_is_the_product_of_its_factors() -> None:
    engine = hybrid(model=WORDS, cache=False)
    engine.index(from_texts(MANUAL | README))
    for hit, _, ranking in engine.explain("log in", 9):
        product = ranking["joined"] * ranking["kind"] * ranking["folder"]
        assert hit.score == pytest.approx(product)


def test_the_main_folder_is_that_of_the_snapshot() -> None:
    engine = hybrid(model=WORDS, cache=False)
    engine.index(from_texts(MANUAL | README))
    other = {path.replace("docs/", "guide/"): text for path, text in MANUAL.items()}
    engine.show(from_texts(other | README))
    assert "folder" not in engine.explain("log in", 1)[0].ranking
    engine.show(from_texts(MANUAL | README))
    assert "folder" in engine.explain("log in", 1)[0].ranking


@pytest.mark.parametrize(("step", "alone"), [(0, "bm25"), (1, "dense(model=tests.words:words)")])
def test_a_stage_alone_is_ordered_as_its_engine(step: int, alone: str) -> None:
    engine, other = hybrid(model=WORDS, cache=False), build(alone)
    for each in (engine, other):
        each.index(from_texts(MANUAL | README))
    assert list(engine.steps("log in", 9)[step].hits) == list(other.search("log in", 9))


def words(number: int) -> str:
    return f"def word{number}(zebra):\n    return zebra * {number}\n"


def test_only_what_changed_is_indexed() -> None:
    engine = hybrid(model=WORDS, cache=False)
    tree = {f"{number}.py": words(number) for number in range(20)}
    engine.index(from_texts(tree))
    assert engine.work() == {"rows": 20, "embedded": 20, "reused": 0}
    changed = {**tree, "3.py": words(99), "new.py": words(100)}
    del changed["7.py"]
    engine.show(from_texts(changed))
    assert engine.work() == {"rows": 22, "embedded": 22, "reused": 0}
    engine.show(from_texts(tree))
    assert engine.work() == {"rows": 22, "embedded": 22, "reused": 0}


def test_lines_are_those_of_the_snapshot_and_cost_nothing() -> None:
    engine = bm25(chunker="markdown")
    text = "# One\n\n" + "the zebra " * 60 + "\n"
    above = "# Zero\n\n" + "nothing here " * 60 + "\n\n"
    engine.index(from_texts({"a.md": text}))
    assert engine.search("zebra", 1)[0].start_line == 1
    engine.show(from_texts({"a.md": above + text}))
    assert engine.search("zebra", 1)[0].start_line == 5
    assert engine.work() == {"rows": 2}


def test_showing_without_index_is_indexing() -> None:
    engine = bm25()
    engine.show(from_texts({"a.py": words(1)}))
    assert [hit.path for hit in engine.search("zebra", 3)] == ["a.py"]


class Failing(LexicalStage):
    """A stage that once cannot go on."""

    fails = False

    def show(self, rows: Numbers) -> None:
        if self.fails:
            raise OSError("disk on fire")
        super().show(rows)


def test_what_failed_half_way_is_begun_anew() -> None:
    stage = Failing()
    engine = ChunkEngine([LexicalStage(), stage], name="fails")
    engine.index(from_texts({"a.py": words(1)}))
    stage.fails = True
    with pytest.raises(OSError, match="on fire"):
        engine.show(from_texts({"b.py": words(2)}))
    with pytest.raises(EngineError, match="before index"):
        engine.search("zebra", 1)
    stage.fails = False
    engine.show(from_texts({"b.py": words(2)}))
    assert [hit.path for hit in engine.search("zebra", 3)] == ["b.py"]


def test_embedding_can_be_watched() -> None:
    told: list[tuple[int, int]] = []
    engine = hybrid(model=WORDS, cache=False)
    engine.watch(lambda done, total: told.append((done, total)))
    engine.index(from_texts({f"{number}.py": words(number) for number in range(100)}))
    assert told == [(64, 100), (100, 100)]


def test_fallbacks_are_counted_since_index() -> None:
    engine = bm25(chunker="syntax")
    engine.index(from_texts({"a.unknown": "some text\n", "b.py": words(1)}))
    assert engine.fallbacks == {"no-grammar": 1}
    engine.index(from_texts({"b.py": words(1)}))
    assert not engine.fallbacks


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="no stage"):
        ChunkEngine([], name="nothing")
    with pytest.raises(InputError, match="unit 'page'"):
        bm25(unit="page")
    with pytest.raises(InputError, match="threshold"):
        bm25(threshold=2.0)
    with pytest.raises(EngineError, match="search was called before index"):
        bm25().search("x", 1)


def test_tokens_are_never_none() -> None:
    assert tokens("") == 1


def test_the_order_of_files_is_no_tie() -> None:
    recipe = IndexRecipe(chunker="lines", chunker_options={"size": 1}, unit="file")
    engine = ChunkEngine([LexicalStage()], name="short", recipe=recipe)
    engine.index(
        from_texts({"a.py": "login password\nlogin password\n", "b.py": "login password mail\n"})
    )
    hits = engine.search("login password", 3)
    assert [hit.path for hit in hits] == ["a.py", "b.py", "a.py"]
    assert hits[0].score > hits[1].score > hits[2].score


def test_the_size_of_an_index_grows_with_it() -> None:
    engine = bm25(cache=False)
    assert engine.index_bytes() == 0
    engine.index(from_texts({"a.py": "login"}))
    small = engine.index_bytes()
    engine.index(from_texts({f"{name}.py": f"login {name}" for name in range(9)}))
    assert 0 < small < engine.index_bytes()


@pytest.mark.parametrize("unit", ["lines", "file"])
def test_parts_of_one_long_line_are_one_hit(unit: str) -> None:
    long = " ".join(f"login{number} user" for number in range(400))
    texts = {"logo.svg": long, "auth.py": "def login(user): ...\n", "b.py": "user = 1\n"}
    engine = bm25(chunker="window:64", unit=unit)
    engine.index(from_texts(texts))
    assert engine.chunks > 5
    hits = engine.search("user", 3)
    assert sorted((hit.path, hit.start_line, hit.end_line) for hit in hits) == [
        ("auth.py", 1, 1),
        ("b.py", 1, 1),
        ("logo.svg", 1, 1),
    ]
    assert engine.search("user", 2) == hits[:2]
