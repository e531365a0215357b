"""Hits travel unchanged."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model import Hit
from karat.runner.wire import decoded, encoded, packed, unpacked

text = st.text(st.characters(exclude_characters="\0"))
whole = st.integers(-1, 2**31 - 1)
hits = st.lists(st.builds(Hit, text, st.floats(), whole, whole, text, whole))


@given(hits)
def test_hits_come_back_bit_for_bit(sent: list[Hit]) -> None:
    line = encoded({"hits": packed(sent)})
    assert b"\n" not in line
    received = unpacked(decoded(line)["hits"])
    assert [repr(hit) for hit in received] == [repr(hit) for hit in sent]


def test_no_score_stays_none() -> None:
    assert isnan(unpacked(packed([Hit("a.py")]))[0].score)


@pytest.mark.parametrize("line", [b"[]", b"", b"{", b"\xff"])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decoded(line)
