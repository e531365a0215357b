import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.scoring.stats.moments import known_percentiles, least_values, percentiles


def test_the_ninetieth_of_one_to_ten() -> None:
    assert percentiles(range(1, 11), [90]) == (9.1,)


def test_one_value_and_no_value() -> None:
    assert percentiles([7.0], [0, 50, 100]) == (7.0, 7.0, 7.0)
    assert percentiles([math.nan], [50, 99]) == (None, None)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 100))
def test_agrees_with_numpy(values: list[float], point: float) -> None:
    assert percentiles(values, [point]) == pytest.approx((np.percentile(values, point),))


def test_points_beyond_a_hundred_are_refused() -> None:
    with pytest.raises(InputError, match="101"):
        percentiles([1.0], [50, 101])


def test_a_percentile_needs_a_value_above_it() -> None:
    points = (0, 10, 50, 75, 90, 95, 99, 99.9, 100)
    assert [least_values(point) for point in points] == [1, 1, 1, 4, 10, 20, 100, 1000, 1]
    assert known_percentiles(range(99), (50, 99)) == (49.0, None)
    assert known_percentiles(range(100), (99,)) == pytest.approx((98.01,))
    assert known_percentiles([math.nan, 7.0], (50, 90)) == (7.0, None)
    assert known_percentiles([], (50, 100)) == (None, None)
