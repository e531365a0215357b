from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.mining.commits import Candidate, Change, Commit
from karat.mining.sampling import Sampler, allocate


def candidate(number: int, path: str = "src/a/x.py") -> Candidate:
    target = Change("M", path, path, "a" * 40, "b" * 40, "100644", "100644")
    made = Commit(f"{number:040x}", ("p",), number, "Ada", "a@b", "", (target,))
    return Candidate(made, (target,), (), "keep the cookie of visitors")


def sample(candidates: list[Candidate], limit: int, seed: int) -> list[Candidate]:
    return Sampler(candidates, seed).take(limit)


MANY = [candidate(n, f"src/{'ab'[n % 10 == 0]}/x.py") for n in range(200)]


def test_shares_by_hand() -> None:
    # Quotas 5.0, 3.5, 1.4 and 0.1: eight whole seats; then the empty stratum, then the half.
    assert allocate({"a": 50, "b": 35, "c": 14, "d": 1}, 10) == {"a": 5, "b": 3, "c": 1, "d": 1}


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), min_size=1), st.integers(0, 400))
def test_shares_add_up_and_no_one_gets_more_than_there_is(
    sizes: dict[str, int], limit: int
) -> None:
    given_seats = allocate(sizes, limit)
    assert sum(given_seats.values()) == min(limit, sum(sizes.values()))
    assert all(0 <= given_seats[name] <= size for name, size in sizes.items())


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), min_size=1), st.integers(0, 400))
def test_shares_are_within_one_of_the_quota(sizes: dict[str, int], limit: int) -> None:
    limit = min(limit, sum(sizes.values()))
    for name, got in allocate(sizes, limit).items():
        assert abs(got - limit * sizes[name] / sum(sizes.values())) <= 1


def test_a_sample_is_the_same_for_a_seed_and_another_for_another() -> None:
    assert sample(MANY, 40, 7) == sample(MANY, 40, 7)
    assert sample(MANY, 40, 7) != sample(MANY, 40, 8)


def test_a_sample_keeps_the_order_and_the_shares() -> None:
    chosen = sample(MANY, 40, 1)
    times = [one.commit.time for one in chosen]
    assert len(set(times)) == 40
    assert times == sorted(times)
    assert Counter(one.paths[0] for one in chosen) == {"src/a/x.py": 36, "src/b/x.py": 4}
    assert Counter(time // 50 for time in times) == dict.fromkeys(range(4), 10)


@pytest.mark.parametrize("limit", [200, 1000])
def test_all_are_taken_where_there_are_no_more(limit: int) -> None:
    assert sample(MANY, limit, 1) == MANY


def test_none_and_nothing() -> None:
    assert sample(MANY, 0, 1) == []
    assert sample([], 5, 1) == []


def test_nothing_is_drawn_twice() -> None:
    sampler = Sampler(MANY, 1)
    first, second, rest = sampler.take(40), sampler.take(3), sampler.take(1000)
    assert (len(first), len(second), len(rest), len(sampler)) == (40, 3, 157, 0)
    assert len({one.commit.id for one in (*first, *second, *rest)}) == 200
    assert sampler.take(1) == []
