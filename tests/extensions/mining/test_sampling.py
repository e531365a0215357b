from collections import Counter

import pytest

from karat.extensions.mining.commits import Candidate, Change, Commit
from karat.extensions.mining.sampling import Sampler


def candidate(number: int, path: str = "src/a/x.py") -> Candidate:
    target = Change("M", path, path, "a" * 40, "b" * 40, "100644", "100644")
    made = Commit(f"{number:040x}", ("p",), number, "Ada", "a@b", "", (target,))
    return Candidate(made, (target,), (), "keep the cookie of visitors")


def sample(candidates: list[Candidate], limit: int, seed: int) -> list[Candidate]:
    return Sampler(candidates, seed).take(limit)


MANY = [candidate(n, f"src/{'ab'[n % 10 == 0]}/x.py") for n in range(200)]


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
