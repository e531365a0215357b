"""The baseline counts different words, whatever they are part of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.lexical import KeywordIndex, keywords
from karat.errors import InputError

texts = st.lists(st.sampled_from(["User", "userName", "url", "x", "the", "+"]), max_size=8).map(
    " ".join
)


def index_of(documents: list[str]) -> KeywordIndex:
    index = KeywordIndex()
    index.add(documents)
    return index


def test_worked_by_hand() -> None:
    index = index_of(["url url", "a url of a user", "nothing"])
    assert index.scores("user URL").tolist() == pytest.approx([1 + 2 / 3, 2 + 2 / 3, 0])
    assert index.search("user URL", 5).documents.tolist() == [1, 0]
    assert [term.term for term in index.explain("user URL", 0)] == ["url"]


@given(st.lists(texts, max_size=8), texts)
def test_counts_as_a_loop_would(documents: list[str], query: str) -> None:
    words = keywords(query)
    expected = []
    for document in documents:
        counts = [document.lower().count(word) for word in words]
        expected.append(sum(map(bool, counts)) + sum(counts) / (sum(counts) + 1))
    assert index_of(documents).scores(query).tolist() == pytest.approx(expected)


def test_no_number_of_occurrences_is_worth_a_word() -> None:
    scores = index_of(["url " * 100_000, "url user"]).scores("url user")
    assert scores[0] < scores[1]
    assert 1 < scores[0] < 2


def test_fields_and_masks_and_more_documents() -> None:
    index = KeywordIndex()
    assert index.add([[("src/user.py", 2), ("url", 1)]]) == range(1)
    assert index.search("user url", 5).scores.tolist() == pytest.approx([2 + 2 / 3])
    assert index.add(["user"]) == range(1, 2)
    assert index.search("user", 5, live=np.array([False, True])).documents.tolist() == [1]
    with pytest.raises(InputError, match="expected 2 booleans"):
        index.scores("user", live=np.array([True]))
    with pytest.raises(InputError, match="no document 2"):
        index.explain("user", 2)


def test_a_word_never_spans_two_documents() -> None:
    assert not index_of(["us", "er"]).scores("user").any()


@pytest.mark.parametrize("query", ["", "the", "."])
def test_nothing_to_find(query: str) -> None:
    assert not len(KeywordIndex().search(query, 3).documents)
    assert not len(index_of(["alpha. the"]).search(query, 3).documents)
