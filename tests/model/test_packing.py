"""Hits come back from their bytes as they were."""

from math import inf, nan

from hypothesis import example, given
from hypothesis import strategies as st

from karat.model import Answer, Hit
from karat.model.run import PackedHits, packed

WHOLE = st.integers(-(2**31), 2**31 - 1)
# Every character, also those that no file holds.
TEXT = st.text(st.characters(), max_size=8)
HITS = st.lists(st.builds(Hit, TEXT, st.floats(), WHOLE, WHOLE, TEXT, WHOLE), max_size=6)


@given(HITS)
@example([Hit("a.py", 0.1, 2**15 - 1), Hit("a.py", 0.1, 2**15)])
@example([Hit("a" * 2**15)])
def test_hits_come_back(hits: list[Hit]) -> None:
    # As text, because no NaN equals another.
    assert repr(PackedHits(packed(hits))) == repr(tuple(hits))


def test_scores_keep_every_bit() -> None:
    scores = [0.1, nan, inf, -inf, -0.0, 5e-324]
    unpacked = PackedHits(packed([Hit("a", score) for score in scores]))
    assert repr([hit.score for hit in unpacked]) == repr(scores)


def test_they_are_a_sequence_like_any_other() -> None:
    hits = (Hit("a.py", 2.0), Hit("b.py", 1.0), Hit("a.py", 0.5, 3, 9))
    unpacked = PackedHits(packed(hits))
    assert (len(unpacked), unpacked[1], unpacked[-1], unpacked[1:]) == (
        3,
        hits[1],
        hits[2],
        hits[1:],
    )
    assert hits[2] in unpacked
    assert list(reversed(unpacked)) == list(reversed(hits))
    # Equal from either side, and inside an answer.
    assert unpacked == hits
    assert hits == unpacked
    assert Answer("q1", unpacked) == Answer("q1", hits)
    assert unpacked != hits[:2]
    assert unpacked != 3
    assert not PackedHits(packed(()))
    nobody_scored = packed([Hit("a.py", nan)])
    assert PackedHits(nobody_scored) == PackedHits(nobody_scored)


def test_what_is_packed_is_passed_on_as_it_is() -> None:
    data = packed([Hit("a.py")])
    assert packed(PackedHits(data)) is data


def test_a_path_is_written_once() -> None:
    path = "src/package/" + "x" * 1_000
    once, often = packed([Hit(path)]), packed([Hit(path)] * 100)
    assert len(often) - len(once) < 100 * 20
