import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.moments import detectable_difference, queries_needed


@pytest.mark.parametrize(
    ("sd", "n", "expected"),
    [(0.2, 30, 0.106), (0.3, 30, 0.159), (0.4, 127, 0.100), (0.3, 500, 0.038), (0.2, 1_000, 0.018)],
)
def test_known_table(sd: float, n: int, expected: float) -> None:
    assert detectable_difference(sd, n) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("n", [20, 127, 1_000])
def test_the_power_of_the_t_test_there_is_as_promised(n: int) -> None:
    difference = detectable_difference(0.3, n)
    assert difference is not None
    shift = difference / 0.3 * math.sqrt(n)
    power = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)
    assert power == pytest.approx(0.8, abs=0.01)


@settings(max_examples=30)
@given(st.floats(0.05, 1), st.floats(0.02, 0.5))
def test_queries_needed_is_the_smallest_number_that_detects(sd: float, difference: float) -> None:
    n = queries_needed(sd, difference)
    found = detectable_difference(sd, n)
    assert found is not None
    assert found <= difference
    before = detectable_difference(sd, n - 1)
    assert before is None or before > difference


def test_no_noise_needs_two_queries() -> None:
    assert queries_needed(0.0, 0.1) == 2


def test_nothing_is_detectable_without_a_spread() -> None:
    assert detectable_difference(0.3, 1) is None
    assert detectable_difference(math.nan, 10) is None


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="power"):
        detectable_difference(0.3, 10, power=0.5)
    with pytest.raises(InputError, match="level"):
        queries_needed(0.3, 0.1, level=0)
    with pytest.raises(InputError, match="standard deviation nan"):
        queries_needed(math.nan, 0.1)
    with pytest.raises(InputError, match="nothing to detect"):
        queries_needed(0.3, 0.0)
    with pytest.raises(InputError, match="too small"):
        queries_needed(0.3, 1e-12)
