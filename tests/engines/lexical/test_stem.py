"""Forms of a word meet in one stem, and words that only look alike stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.lexical.tokens import stem


@pytest.mark.parametrize(
    "forms",
    [
        "index indexes indexed indexing",
        "cache caches cached caching",
        "query queries",
        "embed embeds embedded embedding embeddings",
        "parse parses parsed parsing",
        "run runs running",
        "add adds added adding",
        "file files filed filing",
        "class classes",
        "match matches matched matching",
        "call calls called calling",
    ],
)
def test_forms_of_a_word_meet(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["string str", "status stat", "speed spe", "sha256s sha256"])
def test_other_words_stay_apart(pair: str) -> None:
    assert len({stem(word) for word in pair.split()}) == 2


@given(st.text("abcdeginrsty", max_size=12))
def test_a_stem_begins_like_its_word(word: str) -> None:
    stemmed = stem(word)
    assert bool(stemmed) == bool(word)
    assert word.startswith(stemmed.removesuffix("y"))
