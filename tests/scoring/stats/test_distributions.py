import math
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from karat.scoring.stats.moments import (
    beta_fraction,
    beta_quantile,
    incomplete_beta,
    log_beta,
    normal_quantile,
    normal_tail,
    sign_test,
    t_quantile,
    t_two_sided,
)

shape = st.floats(0.5, 5_000)


@given(shape, shape)
def test_log_beta_agrees_with_scipy(a: float, b: float) -> None:
    assert log_beta(a, b) == pytest.approx(special.betaln(a, b), rel=1e-11, abs=1e-11)


@given(shape, shape, st.floats(0, 1))
def test_incomplete_beta_agrees_with_scipy(a: float, b: float, x: float) -> None:
    # Close to 1 scipy loses digits of 1 - x; its complement keeps them.
    expected = special.betainc(a, b, x) if x < 0.5 else 1.0 - special.betainc(b, a, 1.0 - x)
    assert incomplete_beta(a, b, x) == pytest.approx(expected, abs=1e-10)


def test_the_ends_of_the_incomplete_beta_function() -> None:
    assert incomplete_beta(2.0, 3.0, 0.0) == 0.0
    assert incomplete_beta(2.0, 3.0, 1.0) == 1.0
    assert incomplete_beta(2.0, 3.0, 0.9) == pytest.approx(special.betainc(2, 3, 0.9), abs=1e-12)
    assert t_two_sided(0.0, 5) == 1.0


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (2.0, 30.0), (25.0, 30.0)])
def test_log_beta_for_small_and_large_arguments(a: float, b: float) -> None:
    assert log_beta(a, b) == pytest.approx(special.betaln(a, b), rel=1e-13)


def test_the_continued_fraction_survives_a_zero_denominator() -> None:
    # (a + b) x = a + 1 makes the first denominator exactly 0.
    a, b, x = 1.0, 3.0, 0.5
    value = beta_fraction(a, b, x) * x**a * (1 - x) ** b / a / math.exp(log_beta(a, b))
    assert value == pytest.approx(special.betainc(a, b, x), abs=1e-9)


@given(st.floats(-40, 40), st.integers(1, 1_000_000))
@example(t=1.6e-8, df=2)
def test_t_agrees_with_scipy(t: float, df: int) -> None:
    # scipy's t.sf loses nine digits of 1 - p where t is close to 0; the beta function does not.
    expected = special.betaincc(0.5, df / 2, t * t / (df + t * t))
    assert t_two_sided(t, df) == pytest.approx(expected, abs=1e-10)
    if abs(t) > 0.001:
        assert t_two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), abs=1e-10)


@pytest.mark.parametrize("df", [1, 2, 19, 126, 10_000])
@pytest.mark.parametrize("probability", [0.6, 0.8, 0.975, 0.999])
def test_t_quantile_agrees_with_scipy(df: int, probability: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-9)


def test_p_values_are_never_zero() -> None:
    assert t_two_sided(1e200, 100) == sys.float_info.min
    assert normal_tail(100.0) == sys.float_info.min
    assert sign_test(2_000, 0) == sys.float_info.min


@pytest.mark.parametrize(("a", "b"), [(1, 10), (5, 123), (64, 64), (0.5, 3.0)])
def test_beta_quantile_agrees_with_scipy(a: float, b: float) -> None:
    assert beta_quantile(0.025, a, b) == pytest.approx(stats.beta.ppf(0.025, a, b), rel=1e-9)


@given(st.integers(0, 700), st.integers(0, 700))
def test_sign_test_agrees_with_scipy(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(st.floats(0.5001, 0.9999999))
def test_normal_quantile_agrees_with_scipy(probability: float) -> None:
    assert normal_quantile(probability) == pytest.approx(stats.norm.ppf(probability), rel=1e-7)


def test_normal_tail_by_hand() -> None:
    assert normal_tail(1.959963984540054) == pytest.approx(0.05, abs=1e-12)
