"""The order of queries, and how they are shared out."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.experiments.workers import RunSettings, SnapshotQueries, Source, all_queries_on
from karat.experiments.workers.plan import split_queries, warm_up_rows
from karat.model import Dataset, Query

SOURCE = Source.of_texts({"a.py": ""})
DATASET = Dataset.of([Query(str(row), "text") for row in range(40)])


def test_one_seed_is_one_order() -> None:
    orders = [all_queries_on(DATASET, SOURCE, seed=seed)[0].rows for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(40))


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(1, 12))
def test_pieces_keep_the_order_and_share_alike(sizes: list[int], count: int) -> None:
    numbers = iter(range(100))
    snapshots = [
        SnapshotQueries(SOURCE, tuple(next(numbers) for _ in range(size))) for size in sizes
    ]
    found = split_queries(snapshots, count)
    rows = [list(chain.from_iterable(snapshot.rows for snapshot in piece)) for piece in found]
    assert list(chain.from_iterable(rows)) == list(range(sum(sizes)))
    assert len(found) <= count
    assert all(len(piece) == len(rows[0]) for piece in rows[:-1])
    assert all(snapshot.rows for piece in found for snapshot in piece)


def test_warming_up_leaves_cold_queries_cold() -> None:
    alone = SnapshotQueries(SOURCE, (7,))
    assert 7 not in warm_up_rows(DATASET, alone, RunSettings(warm_up=3))
    everything = all_queries_on(DATASET, SOURCE, seed=0)[0]
    warm = warm_up_rows(DATASET, everything, RunSettings(warm_up=3))
    assert warm == list(reversed(everything.rows[-3:]))
    assert warm_up_rows(DATASET, everything, RunSettings(warm_up=0)) == []


@pytest.mark.parametrize(
    "wrong", [{"repetitions": 0}, {"warm_up": -1}, {"timeout_s": 0}, {"deaths": 0}]
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="expected"):
        RunSettings(**wrong)
