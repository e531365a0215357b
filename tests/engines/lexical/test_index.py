"""BM25 agrees with the textbook, and a masked index with one of only the live documents."""

from collections.abc import Sequence
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.engines.lexical import BM25, Document, DocumentRanking, LexicalIndex, TokenRules
from karat.errors import InputError

WORDS = ["user", "userName", "parse_url", "URL", "cache", "the", "x", "日本", "zeta42"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
fields = st.lists(st.tuples(texts, st.integers(0, 3)), max_size=3)
corpora: st.SearchStrategy[list[Document]] = st.lists(st.one_of(texts, fields), max_size=12)


def index_of(documents: Sequence[Document], bm25: BM25 | None = None) -> LexicalIndex:
    index = LexicalIndex(bm25=bm25)
    index.add(documents)
    return index


def terms_of(document: Document) -> list[str]:
    parts = [(document, 1)] if isinstance(document, str) else document
    return [term for text, weight in parts for term in TokenRules().terms(text) * weight]


def textbook(documents: Sequence[Document], query: str, bm25: BM25) -> list[float]:
    """Return BM25 as the textbook has it, in plain Python."""
    from math import log

    lists = [terms_of(document) for document in documents]
    average = sum(map(len, lists)) / max(len(lists), 1)
    scores = []
    for terms in lists:
        score = 0.0
        for term in TokenRules().terms(query):
            if term in terms:
                df = sum(term in other for other in lists)
                length = 1 - bm25.b + bm25.b * len(terms) / average
                rarity = log(1 + (len(lists) - df + 0.5) / (df + 0.5))
                score += rarity * terms.count(term) / (terms.count(term) + bm25.k1 * length)
        scores.append(score)
    return scores


def test_worked_by_hand() -> None:
    index = index_of(["alpha beta", "alpha alpha gamma gamma"], BM25(k1=1, b=0.5))
    # Lengths 2 and 4, average 3; beta: idf ln(1 + 1.5 / 1.5), norm 0.5 + 0.5 * 2 / 3.
    assert index.scores("beta").tolist() == pytest.approx([0.693147 / (1 + 5 / 6), 0], abs=1e-6)
    assert index.search("beta", 5).documents.tolist() == [0]


@given(corpora, texts, st.floats(0, 3), st.floats(0, 1))
def test_agrees_with_the_textbook(
    documents: list[Document], query: str, k1: float, b: float
) -> None:
    bm25 = BM25(k1, b)
    scores = index_of(documents, bm25).scores(query)
    assert scores.tolist() == pytest.approx(textbook(documents, query, bm25), rel=1e-4, abs=1e-6)


@given(corpora, st.lists(st.booleans(), min_size=12, max_size=12), texts, st.integers(1, 12))
def test_a_mask_is_an_index_of_the_living(
    documents: list[Document], alive: list[bool], query: str, k: int
) -> None:
    live = np.array(alive[: len(documents)], dtype=np.bool_)
    index = index_of(documents)
    masked = index.search(query, k, live=live)
    fresh = index_of([document for document, lives in zip(documents, alive, strict=False) if lives])
    expected = fresh.search(query, k)
    assert masked.documents.tolist() == np.flatnonzero(live)[expected.documents].tolist()
    assert masked.scores.tolist() == expected.scores.tolist()
    scores = index.scores(query, live=index.view(live))
    assert scores[live].tolist() == fresh.scores(query).tolist()
    assert not scores[~live].any()


@given(corpora, st.lists(st.integers(0, 12), max_size=4), texts)
def test_adding_in_steps_is_adding_at_once(
    documents: list[Document], cuts: list[int], query: str
) -> None:
    stepwise = LexicalIndex()
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(documents)], strict=True):
        stepwise.add(documents[begin:end])
    whole = index_of(documents)
    assert len(stepwise) == len(documents)
    assert stepwise.scores(query).tolist() == whole.scores(query).tolist()
    stepwise.compact()
    assert stepwise.scores(query).tolist() == whole.scores(query).tolist()


def test_parts_stay_few() -> None:
    index = LexicalIndex()
    for number in range(200):
        assert index.add([f"alpha w{number}"]) == range(number, number + 1)
    assert len(index._parts) <= 8
    assert len(index.search("alpha", 300).documents) == 200


@given(corpora, texts)
def test_an_explanation_adds_up(documents: list[Document], query: str) -> None:
    index = index_of(documents)
    for document, score in enumerate(index.scores(query).tolist()):
        explained = index.explain(query, document)
        assert sum(term.score for term in explained) == pytest.approx(score, rel=1e-5)
        assert {term.term for term in explained} <= set(TokenRules().terms(query))


def test_terms_with_boosts() -> None:
    index = index_of(["alpha", "beta", "beta"])
    assert index.search({"alpha": 1.0, "beta": 1.0}, 1).documents.tolist() == [0]
    assert index.search({"alpha": 1.0, "beta": 9.0}, 1).documents.tolist() == [1]
    assert index.scores("alpha alpha").tolist() == index.scores({"alpha": 2.0}).tolist()


@pytest.mark.parametrize("query", ["", "the of", "unknown", "?!"])
def test_nothing_to_find(query: str) -> None:
    for index in (LexicalIndex(), index_of(["alpha"]), index_of(["", "the"])):
        assert not len(index.search(query, 10).documents)
        assert not index.scores(query).any()


def test_equal_documents_rank_by_number() -> None:
    index = index_of(["alpha"] * 1000)
    assert index.search("alpha", 3).documents.tolist() == [0, 1, 2]
    live = np.arange(1000) % 2 == 1
    assert index.search("alpha", 3, live=live).documents.tolist() == [1, 3, 5]


@pytest.mark.parametrize("mask", [np.ones(2, np.bool_), np.ones(1, np.int64)])
def test_a_mask_fits_the_index(mask: NDArray[np.bool_]) -> None:
    with pytest.raises(InputError, match="expected 1 booleans"):
        index_of(["alpha"]).search("alpha", 1, live=mask)


def test_no_such_document() -> None:
    with pytest.raises(InputError, match="no document 1"):
        index_of(["alpha"]).explain("alpha", 1)


@pytest.mark.parametrize(("k1", "b"), [(-1, 0.5), (float("nan"), 0.5), (1, 1.1), (1, -0.1)])
def test_parameters_out_of_range(k1: float, b: float) -> None:
    with pytest.raises(InputError, match="expected k1 from 0"):
        BM25(k1, b)


def test_threads_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(5)
    documents = [" ".join(rng.choice(WORDS, 6)) for _ in range(3000)]
    index = index_of(documents)
    alone = {word: index.search(word, 20) for word in WORDS}
    wrong: list[str] = []

    def work(word: str) -> None:
        for _ in range(50):
            ranking: DocumentRanking = index.search(word, 20)
            if ranking.documents.tolist() != alone[word].documents.tolist():
                wrong.append(word)

    threads = [Thread(target=work, args=(word,)) for word in WORDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("boost", [1.0, 0.3])
def test_weights_computed_per_query_are_those_computed_ahead(
    monkeypatch: pytest.MonkeyPatch, boost: float
) -> None:
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(50)]
    texts = [" ".join(rng.choice(words, size)) for size in rng.integers(1, 40, 300)]
    index = LexicalIndex()
    index.add(texts[:200])
    index.add(texts[200:])
    query = {"w1": boost, "w7": 1.0, "w33": boost}
    ahead = index.scores(query)
    monkeypatch.setattr("karat.engines.lexical.index.READY_POSTINGS", 0)
    large = LexicalIndex()
    large.add(texts)
    assert large.scores(query).tobytes() == ahead.tobytes()
    assert ahead.any()
