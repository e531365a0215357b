"""Quantiles of the resampled t without draws, against draws, scipy and cases worked by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.model.comparison import Interval
from karat.scoring.stats.bootstrap import (
    LEAST_QUERIES,
    beside_two,
    binomial_quantiles,
    bootstrap_intervals,
    cornish_fisher,
    drawn_quantiles,
    expansion_quantiles,
    studentised_quantiles,
)

Values = np.ndarray[tuple[int], np.dtype[np.float64]]
ANALYTIC = "analytic bootstrap-t"


def only(values: object, **options: object) -> Interval:
    (interval,) = bootstrap_intervals(values, **options)  # type: ignore[arg-type]
    return interval


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def reciprocal_ranks(rng: np.random.Generator, n: int) -> Values:
    ranks = np.ceil(np.exp(1.2 - 1.7 * rng.normal(size=n)))
    return np.where(ranks <= 10, 1 / ranks, 0.0)


def gains(rng: np.random.Generator, n: int) -> Values:
    ranks = np.ceil(np.exp(2.5 - 1.7 * rng.normal(size=n)))
    return np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0.0)


def recalls(rng: np.random.Generator, n: int) -> Values:
    means: Values = (rng.random((n, 2)) < (0.8, 0.6)).mean(axis=1)
    return means


def differences(rng: np.random.Generator, n: int) -> Values:
    return rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.75, 0.15], size=n)


@pytest.mark.parametrize("make", [reciprocal_ranks, gains, recalls, differences])
@pytest.mark.parametrize("n", [LEAST_QUERIES, 1_000])
def test_the_ends_are_those_of_very_many_resamples(
    make: Callable[[np.random.Generator, int], Values], n: int
) -> None:
    rng = np.random.default_rng(n)
    values = make(rng, n)
    # A resample of n values of few kinds is a multinomial count: 200,000 of them are cheap.
    kinds, counts = np.unique(values, return_counts=True)
    drawn = rng.multinomial(n, counts / n, size=200_000)
    means = drawn @ kinds / n
    sds = np.sqrt((drawn @ kinds**2 / n - means**2) * n / (n - 1))
    ts = (means - values.mean()) / sds * math.sqrt(n)
    low_t, high_t = np.quantile(ts, [0.025, 0.975])
    low, high = expansion_quantiles((values - values.mean())[:, None], level=0.95)
    assert (low[0], high[0]) == pytest.approx((low_t, high_t), abs=0.01 * (high_t - low_t))
    assert only(values).method.startswith(ANALYTIC)


def test_scipys_bca_interval_is_near() -> None:
    values = np.random.default_rng(3).exponential(size=500)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, batch=2_000, rng=np.random.default_rng(0)
    ).confidence_interval
    width = expected.high - expected.low
    # Another second-order method: both agree in the shift, and differ in the next order.
    assert ends(only(values)) == pytest.approx(tuple(expected), abs=0.03 * width)
    middle = values.mean()
    assert expected.high + expected.low > 2 * middle
    assert sum(ends(only(values))) > 2 * middle


def test_the_expansion_by_hand() -> None:
    # Mean 0 and variance 1; a twentieth at -sqrt(10), a twentieth at +sqrt(10): kurtosis 7.
    row = np.zeros(1_000)
    row[:50], row[50:100] = -math.sqrt(10), math.sqrt(10)
    z = stats.norm.ppf(0.975)
    # Symmetric, so only the second term is left: -z (7 (z^2 - 3) / 12 - (z^2 + 3) / 4) / n.
    t = z - z * (7 * (z**2 - 3) / 12 - (z**2 + 3) / 4) / 1_000
    expected = t * math.sqrt(0.999)
    assert cornish_fisher(row[None], 0.95)[:, 0] == pytest.approx([-expected, expected])


def test_on_normal_values_it_is_students_t() -> None:
    row = stats.norm.ppf((np.arange(2_000) + 0.5) / 2_000)
    row /= row.std()
    expected = stats.t.ppf(0.975, 1_999)
    assert cornish_fisher(row[None], 0.95)[:, 0] == pytest.approx([-expected, expected], abs=1e-4)


@pytest.mark.parametrize(("hits", "n"), [(300, 600), (540, 600), (20, 400), (399, 400)])
def test_two_values_follow_the_binomial_distribution(hits: int, n: int) -> None:
    for level in (0.8, 0.95, 0.999):
        counts = stats.binom.ppf([(1 - level) / 2, (1 + level) / 2], n, hits / n)
        with np.errstate(divide="ignore"):
            expected = (counts - hits) / np.sqrt(counts * (n - counts) / (n - 1))
        assert binomial_quantiles(hits, n, level) == pytest.approx(tuple(expected))


def test_two_values_of_any_size_are_exact() -> None:
    low, high = ends(only([0.03] * 470 + [-0.47] * 30))
    scaled = ends(only([1.0] * 470 + [0.0] * 30))
    assert (low, high) == pytest.approx((scaled[0] * 0.5 - 0.47, scaled[1] * 0.5 - 0.47))


def test_values_that_differ_by_rounding_are_one_value() -> None:
    row = np.array([0.1 + 0.2, 0.3, 0.3, 1.0])
    assert beside_two(row) == 0


def test_rare_hits_keep_their_exact_interval() -> None:
    assert only([1.0] * 2 + [0.0] * 598, bounds=(0, 1)).method == "clopper-pearson"
    assert only([1.0] * 2 + [0.0] * 598, bounds=(-1, 1)).method == f"{ANALYTIC} or student-t"


@pytest.mark.parametrize(
    ("values", "options"),
    [
        pytest.param(np.linspace(0, 1, LEAST_QUERIES - 1), {}, id="fewer queries"),
        pytest.param(np.exp(np.linspace(-4, 4, 400)) ** 2, {}, id="skewed"),
        pytest.param([0.0] * 978 + [-5.0, 5.0] + [-0.1, 0.1] * 10, {}, id="heavy tails"),
        pytest.param([0.0, 1.0] * 200 + [0.5] * 19, {}, id="nearly two values"),
        pytest.param(np.linspace(0, 1, 400), {"level": 0.5}, id="low level"),
        pytest.param(np.linspace(0, 1, 400), {"level": 0.999}, id="high level"),
    ],
)
def test_otherwise_resamples_are_drawn(values: Values, options: dict[str, float]) -> None:
    column = np.asarray(values, dtype=np.float64)[:, None]
    level = options.get("level", 0.95)
    assert np.isnan(expansion_quantiles(column - column.mean(), level=level)).all()
    assert not only(values, **options).method.startswith(ANALYTIC)


def test_clusters_are_drawn() -> None:
    values = np.linspace(0, 1, 800)
    interval = only(values, clusters=np.repeat(np.arange(400), 2))
    assert interval.method == "cluster bootstrap-t"


def test_drawn_columns_do_not_depend_on_analytic_ones() -> None:
    rng = np.random.default_rng(8)
    values = np.stack([rng.random(400), rng.lognormal(0, 2, 400), rng.random(400) < 0.3], axis=1)
    centred = values - values.mean(axis=0)
    quantiles = studentised_quantiles(centred, codes=None, level=0.95, draws=999, seed=2)
    assert quantiles.drawn.tolist() == [False, True, False]
    scaled = centred[:, 1:2] / centred[:, 1:2].std()
    low, high = drawn_quantiles(scaled.T, np.ones(400), level=0.95, draws=999, seed=2)
    assert (quantiles.low[1], quantiles.high[1]) == (low[0], high[0])
    together = bootstrap_intervals(values, draws=999)
    assert together == tuple(only(column, draws=999) for column in values.T)


def test_neither_draws_nor_seed_matter() -> None:
    values = np.random.default_rng(1).random(LEAST_QUERIES)
    before = values.copy()
    assert only(values, draws=99, seed=1) == only(values, draws=9_999, seed=2)
    assert np.array_equal(values, before)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.001, 1_000), st.floats(-100, 100))
def test_scale_shift_and_sign_carry_over(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    for values in (gains(rng, 320), rng.integers(0, 2, 320).astype(np.float64)):
        low, high = ends(only(values))
        moved = ends(only(values * scale + shift))
        tolerance = 1e-9 * (scale + abs(shift))
        assert moved == pytest.approx((low * scale + shift, high * scale + shift), abs=tolerance)
        assert ends(only(-values)) == pytest.approx((-high, -low), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.81, 0.9, 0.95, 0.99]))
def test_a_higher_level_is_wider_and_holds_the_mean(seed: int, level: float) -> None:
    values = gains(np.random.default_rng(seed), 400)
    narrow, wide = ends(only(values, level=level - 0.01)), ends(only(values, level=level))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    assert wide[0] < values.mean() < wide[1]
