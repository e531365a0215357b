"""The order of queries, those to warm up with, and settings."""

from typing import Any

import pytest

from karat.errors import InputError
from karat.experiments.workers import RunSettings, SnapshotQueries, Source, all_queries_on
from karat.experiments.workers.plan import QueryTexts, warm_up_rows
from karat.model import Dataset, Query

SOURCE = Source.of_texts({"a.py": ""})
DATASET = Dataset.of([Query(str(row), "text") for row in range(40)])
QUERIES = QueryTexts.of(DATASET)


def test_one_seed_is_one_order() -> None:
    orders = [all_queries_on(DATASET, SOURCE, seed=seed)[0].rows for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(40))


def test_warming_up_leaves_cold_queries_cold() -> None:
    alone = SnapshotQueries(SOURCE, (7,))
    assert 7 not in warm_up_rows(QUERIES, alone, RunSettings(warm_up=3))
    everything = all_queries_on(DATASET, SOURCE, seed=0)[0]
    warm = warm_up_rows(QUERIES, everything, RunSettings(warm_up=3))
    assert warm == list(reversed(everything.rows[-3:]))
    assert warm_up_rows(QUERIES, everything, RunSettings(warm_up=0)) == []


@pytest.mark.parametrize(
    "wrong", [{"repetitions": 0}, {"warm_up": -1}, {"timeout_s": 0}, {"deaths": 0}]
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected"):
        RunSettings(**wrong)
