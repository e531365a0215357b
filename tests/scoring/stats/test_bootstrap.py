import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.bootstrap import bootstrap_intervals, clopper_pearson

NONE = Interval(None, None, 0.95, "none")


def only(values: object, **options: object) -> Interval:
    (interval,) = bootstrap_intervals(values, **options)  # type: ignore[arg-type]
    return interval


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_on_normal_data_it_is_close_to_students_interval() -> None:
    values = np.random.default_rng(0).normal(0.4, 0.2, 200)
    interval = only(values)
    expected = stats.t.interval(0.95, 199, values.mean(), stats.sem(values))
    width = expected[1] - expected[0]
    assert interval.method == "bootstrap-t"
    assert ends(interval) == pytest.approx(expected, abs=0.05 * width)


def test_agrees_with_resamples_drawn_one_by_one() -> None:
    rng = np.random.default_rng(5)
    values = rng.exponential(size=40)
    picks = rng.choice(values, (20_000, 40))
    ts = (picks.mean(axis=1) - values.mean()) / stats.sem(picks, axis=1)
    high_t, low_t = np.quantile(ts, [0.975, 0.025])
    expected = (
        values.mean() - high_t * stats.sem(values),
        values.mean() - low_t * stats.sem(values),
    )
    assert ends(only(values)) == pytest.approx(expected, abs=0.05 * values.std())


def test_skewed_data_get_an_uneven_interval() -> None:
    values = np.random.default_rng(1).exponential(size=60)
    low, high = ends(only(values))
    assert high - values.mean() > 1.2 * (values.mean() - low)


def test_a_seed_repeats_and_other_columns_do_not_matter() -> None:
    values = np.random.default_rng(2).random((50, 3))
    values[4, 1] = math.nan
    together = bootstrap_intervals(values, seed=7)
    assert together == bootstrap_intervals(values, seed=7)
    assert together != bootstrap_intervals(values, seed=8)
    assert together == tuple(only(column, seed=7) for column in values.T)


def test_missing_values_are_left_out() -> None:
    values = np.random.default_rng(3).random(40)
    assert only([*values, math.nan, math.nan]) == only(values)


@pytest.mark.parametrize("values", [[], [0.7], [math.nan, 0.7], [math.nan]])
def test_no_value_or_one_value_has_no_interval(values: list[float]) -> None:
    assert only(values, bounds=(0, 1)) == NONE


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_misses_or_all_hits_give_the_exact_binomial_interval(value: float) -> None:
    interval = only([value] * 50, bounds=(0, 1))
    expected = stats.binomtest(int(value * 50), 50).proportion_ci(method="exact")
    assert interval.method == "constant"
    assert ends(interval) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_equal_values_leave_room_for_queries_not_seen() -> None:
    low, high = ends(only([0.0] * 127, bounds=(-1, 1)))
    assert (low, high) == pytest.approx((-0.0286, 0.0286), abs=1e-4)
    assert only([0.0] * 127) == NONE


def test_rare_hits_get_the_exact_binomial_interval() -> None:
    interval = only([1.0] * 2 + [0.0] * 98, bounds=(0, 1))
    expected = stats.binomtest(2, 100).proportion_ci(method="exact")
    assert interval.method == "clopper-pearson"
    assert ends(interval) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(1, 60), st.integers(0, 60))
def test_clopper_pearson_agrees_with_scipy(n: int, hits: int) -> None:
    hits = min(hits, n)
    expected = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert ends(clopper_pearson(hits, n, 0.95)) == pytest.approx(tuple(expected), abs=1e-9)


def test_rare_differences_get_students_interval_within_the_bounds() -> None:
    values = [0.5, -0.25] + [0.0] * 98
    interval = only(values, bounds=(-1, 1))
    expected = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    assert interval.method == "student-t"
    assert ends(interval) == pytest.approx(expected, abs=1e-9)
    assert only(values, bounds=(0, 1)).low == 0.0


def test_few_differences_get_the_wider_of_two_intervals_at_each_end() -> None:
    values = [0.5, -0.25, 0.5, 0.25, 1.0, 0.5, 0.25, -0.5] + [0.0] * 92
    interval = only(values, bounds=(-1, 1))
    low, high = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    assert interval.method == "bootstrap-t or student-t"
    assert ends(interval)[0] <= low + 1e-12
    assert ends(interval)[1] >= high - 1e-12
    assert only(values + [0.5, 0.25] * 10).method == "bootstrap-t"


def test_differences_of_0_and_1_are_no_hits_since_losses_are_possible() -> None:
    values = [1.0] * 2 + [0.0] * 98
    assert only(values, bounds=(-1, 1)).method == "student-t"
    assert only(values).method == "student-t"


def test_few_clusters_that_differ_are_few_units() -> None:
    values = [0.5, 0.25, 1.0, 0.5, 0.75, 0.5, 1.0, 0.25] + [0.0] * 52
    interval = only(values * 3, clusters=list(range(60)) * 3)
    assert interval.method == "cluster bootstrap-t or student-t"


def test_ends_are_clipped_to_the_bounds_of_each_column() -> None:
    values = np.random.default_rng(4).choice([0.0, 1.0, 0.9], p=[0.1, 0.8, 0.1], size=(12, 2))
    values[0], values[1] = 0.0, 0.5
    free, clipped = bootstrap_intervals(values[:, [0, 0]], bounds=[None, (0, 0.6)])
    assert ends(free)[1] > 0.6
    assert clipped.high == 0.6


def test_clusters_of_one_query_are_the_plain_bootstrap() -> None:
    values = np.random.default_rng(6).random(60)
    plain, clustered = only(values), only(values, clusters=np.arange(60))
    assert clustered.method == "cluster bootstrap-t"
    assert ends(clustered) == ends(plain)


def test_copied_queries_do_not_narrow_a_clustered_interval() -> None:
    values = np.random.default_rng(6).random(60)
    copied = only(np.repeat(values, 4), clusters=np.repeat(np.arange(60), 4))
    assert ends(copied) == pytest.approx(ends(only(values)), rel=1e-5)


def test_uneven_clusters_agree_with_a_plain_loop() -> None:
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 9, 40)
    codes = np.repeat(np.arange(40), sizes)
    values = rng.random(40)[codes] * 0.8 + rng.random(len(codes)) * 0.2
    totals = np.bincount(codes, weights=values)

    def estimate(pick: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[float, float]:
        mean = totals[pick].sum() / sizes[pick].sum()
        residuals = totals[pick] - mean * sizes[pick]
        return mean, math.sqrt(40 / 39 * (residuals**2).sum()) / sizes[pick].sum()

    mean, se = estimate(np.arange(40))
    ts = []
    for _ in range(20_000):
        drawn, error = estimate(rng.integers(0, 40, 40))
        ts.append((drawn - mean) / error)
    low_t, high_t = np.quantile(ts, [0.025, 0.975])
    found = ends(only(values, clusters=codes))
    assert found == pytest.approx((mean - high_t * se, mean - low_t * se), abs=0.1 * se)


def test_clusters_with_equal_means_have_nothing_to_go_by() -> None:
    values = [0.0, 1.0, 0.25, 0.75, 0.5, 0.5]
    assert only(values, clusters=[0, 0, 1, 1, 2, 2], bounds=(0, 1)) == NONE


def test_clusters_that_are_constant_count_as_their_number() -> None:
    interval = only([0.0] * 20, clusters=[0] * 10 + [1] * 10, bounds=(0, 1))
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / 2))


def test_rare_values_in_clusters_fall_back_on_student() -> None:
    values = [1.0] + [0.0] * 59
    assert only(values, clusters=np.repeat(np.arange(20), 3), bounds=(0, 1)).method == "student-t"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="level 1 "):
        bootstrap_intervals([0.1, 0.2], level=1)
    with pytest.raises(InputError, match="draws is 10"):
        bootstrap_intervals([0.1, 0.2], draws=10)
    with pytest.raises(InputError, match="bounds for 3 columns; expected 1"):
        bootstrap_intervals([0.1, 0.2], bounds=[None, None, None])


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]), min_size=2, max_size=60),
    st.integers(0, 5),
)
def test_an_interval_holds_its_mean_and_stays_within_bounds(values: list[float], seed: int) -> None:
    low, high = ends(only(values, bounds=(0, 1), draws=999, seed=seed))
    assert 0.0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1.0


@settings(max_examples=20)
@given(st.floats(0.001, 1_000), st.floats(-100, 100))
def test_scale_and_shift_carry_over(scale: float, shift: float) -> None:
    values = np.random.default_rng(9).random(30)
    low, high = ends(only(values, draws=999))
    expected = (low * scale + shift, high * scale + shift)
    found = ends(only(values * scale + shift, draws=999))
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4 * scale)


def test_an_open_bound_clips_one_end_and_gives_a_constant_no_interval() -> None:
    (open_end,) = bootstrap_intervals([0.0, 0.0, 0.0, 90.0, 3.0], bounds=(0.0, float("inf")))
    assert open_end.low == 0.0
    assert open_end.high is not None
    (constant,) = bootstrap_intervals([7.0, 7.0, 7.0], bounds=(0.0, float("inf")))
    assert (constant.low, constant.high, constant.method) == (None, None, "none")


def test_an_end_lies_no_further_out_than_any_values_could_have_it() -> None:
    # Resampled, the four that differ give a t of twenty and more, which said nothing: 0 to 1.
    scores = [1.0] * 11 + [0.9, 0.63, 0.43, 0.0]
    [interval] = bootstrap_intervals(np.array([scores]).T, bounds=(0.0, 1.0))
    reach = math.sqrt(math.log(2 / 0.05) / (2 * len(scores)))
    assert interval.low == pytest.approx(np.mean(scores) - reach)
    assert interval.high == 1.0
    [unbounded] = bootstrap_intervals(np.array([scores]).T)
    assert interval.low is not None
    assert unbounded.low is not None
    assert unbounded.low < interval.low
