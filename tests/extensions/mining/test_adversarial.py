import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.variants import Attack, attacks

QUERY = "fix the crash of getUser when the password is empty"


def test_each_attack_by_hand() -> None:
    made = attacks(QUERY, random.Random(3))
    assert made[Attack.NEGATION].startswith(f"{QUERY}, not the ")
    typo = made[Attack.TYPO]
    assert len(typo) == len(QUERY)
    assert sum(one != other for one, other in zip(typo, QUERY, strict=True)) == 1


def test_chance_is_the_seed() -> None:
    assert attacks(QUERY, random.Random(3)) == attacks(QUERY, random.Random(3))
    assert len({attacks(QUERY, random.Random(seed))[Attack.TYPO] for seed in range(9)}) > 1


def test_a_typo_hits_a_word_that_tells_where_to_look() -> None:
    typos = {attacks(QUERY, random.Random(seed))[Attack.TYPO] for seed in range(40)}
    assert all("when the" in typo and "getUser" in typo for typo in typos)


def test_names_are_left_alone() -> None:
    made = attacks("getUser setUser delUser", random.Random(1))
    assert set(made) == {Attack.NEGATION}


def test_a_distractor_is_nothing_that_the_query_speaks_of() -> None:
    for seed in range(50):
        made = attacks("the tests of the command line", random.Random(seed))
        assert not made[Attack.NEGATION].endswith(("not the tests", "not the command line"))


@pytest.mark.parametrize("seed", range(5))
def test_a_number_is_typed_as_it_is(seed: int) -> None:
    assert Attack.TYPO not in attacks("fix 10080", random.Random(seed))


@given(st.text(), st.integers())
def test_an_attack_always_changes_the_query(query: str, seed: int) -> None:
    assert query not in attacks(query, random.Random(seed)).values()
