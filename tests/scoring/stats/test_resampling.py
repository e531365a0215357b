import numpy as np
import pytest

from karat.scoring.stats.bootstrap import (
    even_sizes,
    exact_integers,
    studentised_quantiles,
    uneven_sizes,
)


def test_sums_of_exact_integers_do_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    rows, unit = exact_integers(rng.normal(size=(3, 1_000)) * [[1e-6], [1.0], [1e6]])
    for _ in range(20):
        shuffled = rng.permutation(1_000)
        assert np.array_equal(rows[:, shuffled].sum(axis=1), rows.sum(axis=1))
    assert unit.shape == (3, 1)
    assert np.abs(rows).max() * 1_000 < 2**53


def test_exact_integers_keep_the_values() -> None:
    values = np.random.default_rng(1).normal(size=(2, 50))
    rows, unit = exact_integers(values)
    assert rows * unit == pytest.approx(values, abs=1e-11)


def test_a_row_of_zeros_stays_zero() -> None:
    rows, _ = exact_integers(np.zeros((1, 4)))
    assert not rows.any()


def test_both_formulas_agree_where_sizes_are_equal() -> None:
    scaled = np.random.default_rng(2).normal(size=(3, 30))
    plain = even_sizes(scaled, draws=500, seed=4)
    ratio = uneven_sizes(scaled, np.ones(30), draws=500, seed=4)
    assert plain == pytest.approx(ratio, rel=1e-3, abs=1e-4)


def test_the_standard_error_is_the_usual_one() -> None:
    values = np.random.default_rng(3).normal(size=(80, 2))
    centred = values - values.mean(axis=0)
    low, high, se, _ = studentised_quantiles(centred, codes=None, level=0.95, draws=999, seed=0)
    assert se == pytest.approx(values.std(axis=0, ddof=1) / np.sqrt(80))
    assert (low < 0).all()
    assert (high > 0).all()
