import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.scoring.stats.signflip import (
    common_step,
    enumerated_p,
    exact_flip_test,
    grid_p,
    on_grid,
    whole_numbers,
)


def brute_force(differences: list[int]) -> float:
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed for total in sums) / len(sums)


steps = st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9)


@given(steps, st.sampled_from([1.0, 0.1, 1 / 3, 0.05]))
def test_exact_p_values_are_those_of_every_pattern(values: list[int], step: float) -> None:
    differences = np.array(values) * step
    expected = brute_force(values)
    whole = np.array(values)
    assert grid_p(np.abs(whole), whole > 0) == pytest.approx(expected, abs=1e-12)
    assert enumerated_p(differences) == pytest.approx(expected, abs=1e-12)
    test = exact_flip_test(differences, draws=9_999)
    assert test is not None
    assert test.p == pytest.approx(expected, abs=1e-12)
    assert test.nonzero == len(values)


def test_the_method_is_named() -> None:
    def method(differences: list[float], draws: int = 9_999) -> str | None:
        test = exact_flip_test(np.array(differences), draws=draws)
        return None if test is None else test.method

    assert method([0.0, 0.0]) == "exact, no difference"
    assert method([1.0, 0.0, -1.0, 1.0]) == "exact binomial"
    assert method([0.2, 0.4, -0.6]) == "exact grid"
    assert method([2**0.5, 3**0.5, -(5**0.5)]) == "exact enumeration"
    irregular = np.sqrt(np.arange(2.0, 22.0)).tolist()
    assert method(irregular) is None
    assert method(irregular, draws=2**30) == "exact enumeration"


def test_a_grid_is_found_despite_rounding() -> None:
    differences = np.array([0.7 - 0.6, 0.3 - 0.1, 0.9 - 0.2])
    steps = on_grid(differences)
    assert steps is not None
    assert steps.tolist() == [1, 2, 7]
    assert common_step(0.3, 0.1, 1e-9) == pytest.approx(0.1)


def test_no_grid_is_claimed_where_there_is_none() -> None:
    assert on_grid(np.random.default_rng(0).random(100)) is None
    assert on_grid(np.array([1.0, 2**0.5 / 2])) is None
    assert on_grid(np.array([1.0, 1 / 997])) is not None
    assert on_grid(np.array([1.0, 1 / 1009])) is None


def test_small_deviations_from_a_grid_are_no_grid() -> None:
    # Each is close to a multiple of 1/68, but the error of the step adds up over its multiples.
    assert on_grid(np.array([68, 23, 20, 2]) / 68) is not None
    assert on_grid(np.array([1.0, 0.33823529412, 0.29411764754, 0.02941176416])) is None


def test_thousands_of_equal_differences_never_give_zero() -> None:
    test = exact_flip_test(np.full(5_000, 0.5), draws=9_999)
    assert test is not None
    assert 0.0 < test.p < 1e-300


def test_sums_that_tie_stay_within_the_slack() -> None:
    columns = np.array([[0.1], [0.2], [-0.3], [1 / 3]])
    numbers, slack = whole_numbers(columns)
    assert abs(numbers[0, 0] + numbers[1, 0] + numbers[2, 0]) <= slack
    assert (numbers**2).sum() ** 0.5 == pytest.approx(2**30)
