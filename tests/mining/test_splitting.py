"""Older cases and newer ones."""

import pytest

from karat.errors import InputError
from karat.mining.sampling import split_by_time
from karat.model import Dataset, Query, Target


def dataset(*days: int) -> Dataset:
    queries = [
        Query(f"q{place}", "text", (Target("a.py"),), {}, {"timestamp": f"2024-01-{day:02}"})
        for place, day in enumerate(days)
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
