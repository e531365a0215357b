"""Numbers of words answer as a dictionary does."""

from hypothesis import given
from hypothesis import strategies as st

from karat.engines.columns import WordNumbers, word_columns

WORDS = st.lists(st.text(st.characters(), max_size=5), unique=True, max_size=30)


@given(WORDS, WORDS)
def test_a_table_equals_a_dictionary(words: list[str], others: list[str]) -> None:
    table = WordNumbers(word_columns(words))
    numbers = {word: number for number, word in enumerate(words)}
    assert len(table) == len(words)
    assert list(table) == words
    assert [table.word(number) for number in range(len(words))] == words
    for word in (*words, *others):
        assert table.get(word) == numbers.get(word)
