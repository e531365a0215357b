import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.scoring.stats.moments import column_moments


def test_by_hand_with_a_missing_value() -> None:
    (column,) = column_moments([1.0, 2.0, math.nan, 3.0])
    assert (column.n, column.units, column.mean, column.sd) == (3, 3, 2.0, 1.0)
    assert column.se == pytest.approx(1 / math.sqrt(3))
    assert column.varies


def test_one_value_has_no_spread_and_none_has_no_mean() -> None:
    one, none = column_moments([[4.0, math.nan]])
    assert (one.n, one.mean) == (1, 4.0)
    assert math.isnan(one.sd)
    assert not one.varies
    assert none.n == 0
    assert math.isnan(none.mean)


def test_clusters_of_one_query_change_nothing() -> None:
    values = np.random.default_rng(0).random((30, 2))
    for plain, clustered in zip(
        column_moments(values), column_moments(values, clusters=range(30)), strict=True
    ):
        assert clustered.units == 30
        assert clustered.se == pytest.approx(plain.se)


def test_repeating_every_query_does_not_buy_precision_when_clustered() -> None:
    values = np.random.default_rng(0).random(30)
    (once,) = column_moments(values)
    (copied,) = column_moments(np.repeat(values, 5), clusters=np.repeat(np.arange(30), 5))
    assert (copied.n, copied.units) == (150, 30)
    assert copied.se == pytest.approx(once.se)


def test_a_cluster_without_scores_is_no_unit() -> None:
    (column,) = column_moments([1.0, 0.0, math.nan], clusters=["a", "b", "c"])
    assert column.units == 2
    (alone,) = column_moments([1.0, 0.0], clusters=["a", "a"])
    assert math.isnan(alone.se)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=50))
def test_agrees_with_numpy(values: list[float]) -> None:
    (column,) = column_moments(values)
    assert column.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert column.sd == pytest.approx(np.std(values, ddof=1), abs=1e-12)
