"""Names that are there twice are found, each once and in order, also among very many."""

from hypothesis import given
from hypothesis import strategies as st

from karat.model.frozen import repeated


@given(st.lists(st.sampled_from("abcd")))
def test_those_that_a_list_counts_more_than_once(names: list[str]) -> None:
    assert repeated(names) == [name for name in dict.fromkeys(names) if names.count(name) > 1]


def test_one_among_many() -> None:
    # Looking through all for each would take minutes here.
    assert repeated([*map(str, range(300_000)), "7"]) == ["7"]
