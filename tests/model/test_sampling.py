"""Parts of a gold set: drawn by chance, by strata, by time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Dataset, Query, Target
from karat.model.sampling import allocate, draw_sample, split_by_time

QUERIES = [Query(f"q{n}", "text", (Target(f"{n}.py"),), {"kind": str(n % 2)}) for n in range(20)]
GOLD = Dataset.of(QUERIES, name="gold", match="lines", metadata={"repository": "r"})


@given(st.integers(1, 25), st.integers(0, 5))
def test_a_sample_is_a_part_in_order(count: int, seed: int) -> None:
    part = draw_sample(GOLD, count, seed=seed)
    assert len(part) == min(count, len(GOLD))
    assert list(part.queries()) == [query for query in QUERIES if query.id in part.query_ids]
    assert (part.name, part.match, part.metadata) == (GOLD.name, GOLD.match, GOLD.metadata)
    assert draw_sample(GOLD, count, seed=seed) == part


def test_the_seed_decides() -> None:
    drawn = {draw_sample(GOLD, 5, seed=seed).query_ids for seed in range(5)}
    assert len(drawn) > 1
    assert draw_sample(GOLD, None, seed=0) is GOLD
    with pytest.raises(InputError, match="a sample of 0 queries"):
        draw_sample(GOLD, 0, seed=0)


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


def dataset(*days: int) -> Dataset:
    queries = [
        Query(f"q{number}", "text", (Target("a.py"),), {}, {"timestamp": f"2024-01-{day:02}"})
        for number, day in enumerate(days)
    ]
    about = {"test_cases_generated": len(days), "seed": 7}
    return Dataset.of(queries, name="set", match="exact", metadata=about)


def test_the_newer_ones_are_for_the_test() -> None:
    dev, test = split_by_time(dataset(4, 1, 3, 2), ("dev", "test"), share=0.25)
    assert (dev.query_ids, test.query_ids) == (("q1", "q2", "q3"), ("q0",))
    assert (dev.name, test.name, test.match) == ("set dev", "set test", "exact")
    assert test.metadata == {
        "test_cases_generated": 1,
        "seed": 7,
        "split": "test",
        "cutoff": "2024-01-04",
    }


def test_those_of_one_second_stay_together() -> None:
    dev, test = split_by_time(dataset(1, 2, 2, 3), ("dev", "test"), share=0.5)
    assert (len(dev), len(test)) == (1, 3)


@pytest.mark.parametrize(("days", "share"), [((1,), 0.5), ((2, 2), 0.5), ((1, 2), 0.01)])
def test_what_cannot_be_split(days: tuple[int, ...], share: float) -> None:
    with pytest.raises(InputError, match="cannot split"):
        split_by_time(dataset(*days), ("dev", "test"), share=share)
