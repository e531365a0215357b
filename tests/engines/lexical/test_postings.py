"""Batches count what a dictionary would, and merging loses nothing."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.lexical import Document, TokenRules
from karat.engines.lexical import postings as module
from karat.engines.lexical.postings import Postings, RunBuffer, Vocabulary, collect, merge
from karat.errors import InputError

texts = st.lists(st.sampled_from(["aa", "bB", "cC_dd", "the", "語"]), max_size=9).map(" ".join)


def table(postings: Postings, terms: list[str]) -> dict[tuple[str, int], int]:
    """Return the postings as (term, document) -> count."""
    return {
        (term, int(document)): int(count)
        for number, term in enumerate(terms)
        for document, count in zip(
            postings.documents[postings.span(number)],
            postings.counts[postings.span(number)],
            strict=True,
        )
    }


@given(st.lists(texts, min_size=1, max_size=20), st.integers(1, 7))
def test_counts_are_those_of_a_dictionary(documents: list[str], batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH_DOCUMENTS", batch)
        vocabulary = Vocabulary(TokenRules())
        runs = list(collect(documents, vocabulary, first=0))
    assert len(runs) == -(-len(documents) // batch)
    merged = merge(runs, terms=len(vocabulary))
    expected = [Counter(TokenRules().terms(text)) for text in documents]
    assert table(merged, list(vocabulary.terms)) == {
        (term, number): count
        for number, counts in enumerate(expected)
        for term, count in counts.items()
    }
    assert merged.lengths.tolist() == [counts.total() for counts in expected]


def test_a_field_counts_as_often_as_it_weighs() -> None:
    vocabulary = Vocabulary(TokenRules())
    document: Document = [("alpha", 3), ("alpha beta", 1), ("gamma", 0)]
    merged = merge(list(collect([document], vocabulary, first=0)), terms=len(vocabulary))
    assert table(merged, list(vocabulary.terms)) == {("alpha", 0): 4, ("beta", 0): 1}


@pytest.mark.parametrize("weight", [-1, 0.5])
def test_a_weight_is_a_whole_number(weight: float) -> None:
    with pytest.raises(InputError, match="whole number"):
        list(collect([[("alpha", weight)]], Vocabulary(TokenRules()), first=0))  # type: ignore[list-item]


def test_a_term_that_came_later_has_no_documents() -> None:
    nothing = np.empty(0, dtype=np.int32)
    postings = Postings(0, nothing, np.zeros(1, np.int64), nothing, np.empty(0, np.uint16))
    assert postings.span(7) == slice(0, 0)


def test_counts_stop_at_what_fits() -> None:
    vocabulary = Vocabulary(TokenRules())
    (run,) = collect(["aa " * 70_000], vocabulary, first=0)
    assert run.counts.tolist() == [65_535]
    assert run.lengths.tolist() == [70_000]


@given(st.lists(texts, min_size=1, max_size=20), st.integers(1, 7), st.integers(0, 200))
def test_runs_in_a_file_merge_like_those_in_memory(
    documents: list[str], batch: int, memory_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH_DOCUMENTS", batch)
        vocabulary = Vocabulary(TokenRules())
        runs = list(collect(documents, vocabulary, first=3))
    buffer = RunBuffer(memory_bytes=memory_bytes)
    for run in runs:
        buffer.add(run)
    assert (buffer.documents, buffer.postings) == (
        len(documents),
        sum(len(run.documents) for run in runs),
    )
    stored, held = (merge(each, terms=len(vocabulary)) for each in (buffer, runs))
    assert stored.first == held.first == 3
    for name in ("lengths", "offsets", "documents", "counts"):
        one, other = getattr(stored, name), getattr(held, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def test_rare_words_are_forgotten_and_keep_their_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    vocabulary = Vocabulary(TokenRules())
    words = [f"userName{number}".encode() for number in range(9)]
    first = [vocabulary.expand([word, b"login"])[0].tolist() for word in words]
    assert [vocabulary.expand([word, b"login"])[0].tolist() for word in words] == first
    assert vocabulary.find("login") == {list(vocabulary.terms).index("login"): 1}
