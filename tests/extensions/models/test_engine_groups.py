"""Engines of one family answer as each does alone, and no work is done twice."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.corpus import Corpus, from_texts
from karat.engines import chunk_index
from karat.engines.base import Engine
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import Embedder, Kind, create_embedder
from karat.engines.engine_group import build_group, shareable
from karat.engines.lexical.index import LexicalIndex
from karat.engines.ranking import words_of
from karat.engines.rerank.engine import Passages
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError
from karat.extensions.models.rerankers import MaxSim
from karat.extensions.models.static import StaticEmbedder
from karat.model import Hit
from karat.model.spec import Spec
from karat.testing.engines import CHAIN_QUERIES, DOCUMENTS, PATHS, PIECES

MAXSIM = "tests.extensions.models.test_engine_groups:words"
SPECS = (
    "bm25",
    "bm25(k1=1.2, header=1)",
    "bm25(unit=file, code_ranking=false)",
    "sparse",
    "dense(model=static)",
    "dense(model=static, windows=all, threshold=0.2)",
    "hybrid(model=static)",
    "hybrid(model=static, fusion=rrf, rrf_k=20)",
    "hybrid(model=static, fusion=rrf, rrf_k=60, unit=file)",
    "bm25(chunker=lines)",
    "keyword",
    f"rerank(over=bm25, model={MAXSIM})",
    f"rerank(over=hybrid(model=static), model={MAXSIM}, depth=3)",
    f"rerank(over=bm25(chunker=lines), model={MAXSIM}, threshold=0.3)",
    f"rerank(over=keyword, model={MAXSIM})",
    "bm25",
)


class Words:
    """An embedder whose tokens are words, each with its vector in the static table."""

    def token_vectors(
        self, texts: Sequence[str], kind: Kind = "document"
    ) -> list[NDArray[np.float32]]:
        return [static().embed(text.split(), kind) for text in texts]


@cache
def static() -> Embedder:
    return create_embedder("static")


def words(_: str) -> MaxSim:
    return MaxSim(Words(), name="maxsim:words")


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))


@pytest.fixture
def corpus() -> Corpus:
    return from_texts(DOCUMENTS)


def specs(*texts: str) -> list[Spec]:
    return [parse_spec(text) for text in texts]


Work = Counter[str]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    """Count what costs time: cutting, scoring by words, embedding queries, reading texts."""
    counts: Work = Counter()

    def counting(owner: object, name: str, count: Callable[..., tuple[str, int]]) -> None:
        original = getattr(owner, name)

        def counted(*given: object, **named: object) -> object:
            what, times = count(*given, **named)
            counts[what] += times
            return original(*given, **named)

        monkeypatch.setattr(owner, name, counted)

    counting(chunk_index, "iter_chunks", lambda *_, **__: ("cut", 1))
    counting(LexicalIndex, "scores", lambda *_, **__: ("scored", 1))
    counting(StaticEmbedder, "embed", lambda _, texts, kind="document": (kind, len(texts)))
    counting(Words, "token_vectors", lambda _, texts, kind="document": (f"{kind} tokens", 1))
    counting(Passages, "_read", lambda _, ranges: ("read", len(ranges)))
    return counts


def answers(engines: Sequence[Engine], queries: Sequence[str], k: int) -> list[list[list[Hit]]]:
    return [[list(engine.search(query, k)) for engine in engines] for query in queries]


def test_each_answers_as_it_does_alone(corpus: Corpus) -> None:
    family = build_group(specs(*SPECS))
    alone = [build(spec) for spec in SPECS]
    family.show(corpus)
    for engine in alone:
        engine.index(corpus)
    queries = ["login password", "zebra", "how to send mail", "zebra", "", "Größe"]
    for k in (1, 5, 100):
        assert answers(family.engines, queries, k) == answers(alone, queries, k)


def test_each_moves_between_snapshots_as_it_does_alone() -> None:
    texts = st.lists(st.sampled_from(PIECES), max_size=4).map("\n\n".join)
    trees = st.dictionaries(st.sampled_from(PATHS), texts, max_size=len(PATHS))
    family = build_group(specs(*SPECS))
    alone = [build(spec) for spec in SPECS]

    @settings(max_examples=5, deadline=None)
    @given(st.lists(trees, min_size=2, max_size=3))
    def holds(chain: list[dict[str, str]]) -> None:
        for corpus in map(from_texts, chain):
            family.show(corpus)
            for engine in alone:
                # What moves between snapshots is held to the same law by its own suite.
                engine.show(corpus)
            assert answers(family.engines, CHAIN_QUERIES, 8) == answers(alone, CHAIN_QUERIES, 8)

    holds()


def test_nothing_is_done_twice(corpus: Corpus, work: Work) -> None:
    family = build_group(
        specs(
            "bm25",
            "dense(model=static)",
            "dense(model=static, windows=all)",
            "hybrid(model=static, fusion=rrf, rrf_k=20)",
            "hybrid(model=static, fusion=rrf, rrf_k=60)",
            f"rerank(over=hybrid(model=static, fusion=rrf, rrf_k=60), model={MAXSIM})",
            f"rerank(over=bm25, model={MAXSIM})",
        )
    )
    family.show(corpus)
    # The texts of both ways to cut them into windows, of which some are the same.
    assert work.pop("document") <= 2 * len(DOCUMENTS)
    assert work == {"cut": 1}
    work.clear()
    places = {hit[:1] + hit[2:4] for engine in family.engines for hit in engine.search("login", 5)}
    del work["document"]
    # The tokens of the query are embedded as well, and those of the texts once.
    assert work == {
        "scored": 1,
        "query": 1 + 1,
        "query tokens": 1,
        "document tokens": work["document tokens"],
        "read": work["read"],
    }
    assert work["read"] <= len(places)
    before = work.copy()
    for engine in family.engines:
        engine.search("login", 5)
    assert work == before
    family.forget()
    family.engines[0].search("login", 5)
    assert work["scored"] == 2


def test_queries_that_are_expected_are_embedded_in_one_call(corpus: Corpus, work: Work) -> None:
    group = ("dense(model=static)", "hybrid(model=static, windows=all)", "bm25")
    reranked = f"rerank(over=hybrid(model=static), model={MAXSIM})"
    family = build_group(specs(*group, reranked))
    family.show(corpus)
    queries = ["login password", "", "zebra", "Größe"]
    without = answers(family.engines, queries, 5)
    work.clear()
    for engine in family.engines:
        engine.expect(queries)
    # One call for all engines, and one for the tokens, which are embedded query by query.
    assert work == {"query": 2 * len(queries), "query tokens": 1}
    work.clear()
    assert answers(family.engines, queries, 5) == without
    family.forget()
    assert answers(family.engines, queries, 5) == without
    assert "query" not in work
    for engine in family.engines:
        engine.expect([])
    family.engines[0].search("zebra", 5)
    assert work["query"] == 1


def test_after_forgetting_a_search_does_all_its_work(corpus: Corpus, work: Work) -> None:
    pair = (f"rerank(over=hybrid(model=static), model={MAXSIM})", "hybrid(model=static)")
    families = [build_group(specs(*pair), apart=True), build_group(specs(pair[0]))]
    taken = []
    for family in families:
        family.show(corpus)
        if len(family.engines) > 1:
            # The other one has asked for all of it.
            third = family.add(parse_spec(f"rerank(over=bm25, model={MAXSIM})"))
            family.show(corpus)
            for engine in (third, family.engines[1]):
                engine.search("login password", 5)
        work.clear()
        for _ in range(2):
            family.forget()
            family.engines[0].search("login password", 5)
        taken.append(work.copy())
    # The second time its own texts are there, as they are for one that is alone.
    assert taken[0] == taken[1]
    assert (taken[1]["scored"], taken[1]["document tokens"]) == (2, 1)


def test_what_is_shared_counts_for_each(corpus: Corpus) -> None:
    family = build_group(specs("bm25", "hybrid(model=static)", "rerank(over=bm25)", "keyword"))
    family.show(corpus)
    by_words, both, reranked, other = (family.index_ns(engine) for engine in family.engines)
    assert 0 < by_words < both
    assert reranked == by_words
    assert other > 0


def test_equal_specifications_are_one_engine() -> None:
    family = build_group(specs("bm25", "sparse", "bm25"))
    first, _, third = family.engines
    assert first is third


def test_equal_rerankers_that_are_apart_are_two(corpus: Corpus, work: Work) -> None:
    family = build_group(specs(*[f"rerank(over=bm25, model={MAXSIM})"] * 2), apart=True)
    family.show(corpus)
    taken = []
    for engine in family.engines:
        work.clear()
        family.forget()
        engine.search("login password", 5)
        taken.append(work.copy())
    assert taken[0] == taken[1]
    assert taken[0]["read"] > 0


def test_one_that_cannot_be_built_is_no_member(corpus: Corpus) -> None:
    family = build_group(specs("bm25"))
    with pytest.raises(InputError, match="no option 'k2'"):
        family.add(parse_spec("bm25(k2=1)"))
    family.show(corpus)
    assert len(family.engines) == 1
    assert family.engines[0].search("zebra", 1)


def test_a_family_that_grows_is_shown_its_corpus_again(corpus: Corpus) -> None:
    family = build_group(specs("bm25"))
    family.show(corpus)
    late = family.add(parse_spec("hybrid(model=static)"))
    with pytest.raises(EngineError, match="before index"):
        late.search("zebra", 1)
    family.show(corpus)
    alone = build("hybrid(model=static)")
    alone.index(corpus)
    assert late.search("zebra", 3) == alone.search("zebra", 3)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("bm25", "hybrid(model=static)", True),
        ("bm25(chunker=auto)", "sparse(cache=true)", True),
        ("bm25", "rerank(over=rerank(over=dense))", True),
        ("bm25", "bm25(chunker=lines)", False),
        ("bm25", "rerank(over=bm25(chunker=lines))", False),
        ("bm25", "bm25(cache=false)", False),
    ],
)
def test_who_may_share(first: str, second: str, same: bool) -> None:
    keys = [shareable(spec) for spec in specs(first, second)]
    assert None not in keys
    assert (keys[0] == keys[1]) is same


def test_who_shares_nothing() -> None:
    assert [shareable(spec) for spec in specs("keyword", "rerank(over=keyword)")] == [None, None]
    assert shareable(Spec("engine", "python", {"class": "a:B"})) is None


@pytest.mark.parametrize("unit", ["lines", "file"])
def test_no_search_pays_for_names_that_others_profit_from(unit: str) -> None:
    texts = {f"{unit}_{n}.py": f"def unheard_{unit}_{n}(): ...\n" for n in range(9)}
    family = build_group([parse_spec(f"bm25(unit={unit},cache=false)")], apart=True)
    family.show(from_texts(texts))
    before = words_of.cache_info().misses
    assert family.engines[0].search(f"unheard {unit}", 9)
    # The query itself.
    assert words_of.cache_info().misses == before + 1


def test_what_is_released_counts_and_is_indexed_again() -> None:
    first = from_texts({"a.py": "def login(): ...", "b.py": "def send(): ..."})
    second = from_texts({"a.py": "def login(): ...", "c.py": "def mail(): ..."})
    specs = list(map(parse_spec, ("bm25(cache=false)", "hybrid(model=static, cache=false)")))
    group = build_group(specs)
    group.show(first)
    group.release()
    group.show(second)
    alone = build_group(specs)
    alone.show(second)
    done = []
    for engine, other in zip(group.engines, alone.engines, strict=True):
        assert engine.search("login mail", 5) == other.search("login mail", 5)
        assert isinstance(engine, ChunkEngine)
        assert engine.chunks == 2
        done.append(dict(engine.work()))
    assert done == [{"rows": 4}, {"rows": 4, "embedded": 4, "reused": 0}]
