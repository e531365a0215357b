"""The share of a name that a query has, against the same worked out name by name."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Chunk, Trait
from karat.engines.chunk_table import ChunkLocation
from karat.engines.ranking import Names, NameShares, words_of

WORD = st.sampled_from(("check", "login", "user", "new", "parse"))
NAME = st.frozensets(WORD, max_size=4)
ROWS = st.lists(st.lists(NAME, max_size=3), max_size=6)


def share(name: frozenset[str], words: frozenset[str], proven: int) -> float:
    common = len(name & words)
    return common / len(name) * min(1.0, common / proven) if common else 0.0


@given(ROWS, ROWS, st.frozensets(WORD), st.integers(1, 3), st.data())
def test_all_at_once_is_one_by_one(
    before: list[list[frozenset[str]]],
    after: list[list[frozenset[str]]],
    words: frozenset[str],
    proven: int,
    data: st.DataObject,
) -> None:
    shares = NameShares(proven=proven)
    shares.grow(before)
    shares.grow(after)
    rows = before + after
    order = data.draw(st.permutations(range(len(rows))))
    expected = [
        max((share(name, words, proven) for name in rows[row]), default=0.0) for row in order
    ]
    assert shares.of(np.array(order, np.intp), words).tolist() == expected


def location(path: str, *symbols: str, kind: str = "code") -> ChunkLocation:
    return ChunkLocation(path, Chunk("", "", 1, 2, "text", symbols, (), kind), Trait.NONE)


def test_what_is_shown_is_numbered_from_0() -> None:
    names = Names()
    names.grow([location("gone.py", "login"), location("user.py", "check")])
    names.grow([location("lib/mod.rs", "login"), location("a.md", "login", kind="prose")])
    names.show(np.array([3, 2, 1]))
    rows, words = np.arange(3), words_of("login check")
    assert names.defined(rows, words).tolist() == [0.0, 0.5, 0.5]
    assert names.files(rows, words_of("user")).tolist() == [0.0, 0.0, 1.0]
    # The folder speaks for a name that says nothing.
    assert names.files(rows, words_of("lib")).tolist() == [0.0, 0.5, 0.0]
