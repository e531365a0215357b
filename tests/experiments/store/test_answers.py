import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.experiments.store.schema import storable, unpack
from karat.model import Hit
from karat.model.run import packed

HITS = (Hit("a.py", 0.5, 3, 9, "login", 40), Hit("b.py", 0.25, 1, 2))


@pytest.mark.parametrize("hits", [HITS, ()])
def test_hits_come_back(hits: tuple[Hit, ...]) -> None:
    assert unpack(packed(hits)) == hits


@pytest.mark.parametrize(
    ("columns", "scores", "hits"),
    [
        (
            {"path": ["a.py", "b.py"], "start_line": [3, 1], "end_line": [9, 2]}
            | {"symbol": ["login", ""], "tokens": [40, -1]},
            [0.5, 0.25],
            HITS,
        ),
        # What nobody had set was left out.
        ({"path": ["a.py"]}, [1.0], (Hit("a.py", 1.0),)),
        ({}, [], ()),
    ],
)
def test_hits_of_earlier_days_are_read(
    columns: dict[str, list[object]], scores: list[float], hits: tuple[Hit, ...]
) -> None:
    text = zlib.compress(json.dumps(columns).encode(), 1)
    assert unpack(text + struct.pack(f"<{len(scores)}d", *scores)) == hits


@given(st.text(st.characters()))
def test_what_is_storable(text: str) -> None:
    kept = storable(text)
    assert len(kept) == len(text)
    assert "\0" not in kept
    assert storable(kept) == kept
    kept.encode()
    if "\0" not in text and all(not "\ud800" <= letter <= "\udfff" for letter in text):
        assert kept == text
