from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from karat.model import Hit
from karat.store.answers import pack, storable, unpack

WHOLE = st.integers(-(2**31), 2**31 - 1)
# Every character, also those that no file holds.
TEXT = st.text(st.characters(), max_size=8)
HITS = st.lists(st.builds(Hit, TEXT, st.floats(), WHOLE, WHOLE, TEXT, WHOLE), max_size=6)


@given(HITS)
def test_hits_come_back(hits: list[Hit]) -> None:
    # As text, because no NaN equals another.
    assert repr(unpack(pack(hits))) == repr(tuple(hits))


def test_scores_keep_every_bit() -> None:
    scores = [0.1, nan, inf, -inf, -0.0, 5e-324]
    found = unpack(pack([Hit("a", score) for score in scores]))
    assert repr([hit.score for hit in found]) == repr(scores)


def test_what_is_not_set_takes_no_room() -> None:
    hits = [Hit(f"src/package/module_{number}.py") for number in range(100)]
    lines = [hit._replace(start_line=number, end_line=number) for number, hit in enumerate(hits)]
    assert len(pack(hits)) < len(pack(lines)) < len(repr(hits)) / 10


@given(st.text(st.characters()))
def test_what_is_storable(text: str) -> None:
    kept = storable(text)
    assert len(kept) == len(text)
    assert "\0" not in kept
    assert storable(kept) == kept
    kept.encode()
    if "\0" not in text and all(not "\ud800" <= letter <= "\udfff" for letter in text):
        assert kept == text
