import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.bootstrap import bootstrap_intervals, clopper_pearson, gaffke_ends

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


def test_rare_differences_reach_no_further_than_a_multiple_of_students() -> None:
    values = [0.5, -0.25] + [0.0] * 98
    interval = only(values, bounds=(-1, 1))
    low, high = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    # More than a tenth of the resamples have neither of the two: their t is without a bound.
    assert interval.method == "bootstrap-t or student-t"
    assert interval.low == pytest.approx(low, abs=0.5 * (high - low))
    assert interval.high == pytest.approx(np.mean(values) + 2.5 * (high - np.mean(values)))
    assert only(values, bounds=(0, 1)).low == 0.0


def test_few_differences_get_the_wider_of_two_intervals_at_each_end() -> None:
    values = [0.5, -0.25, 0.5, 0.25, 1.0, 0.5, 0.25, -0.5] + [0.0] * 92
    interval = only(values, bounds=(-1, 1))
    low, high = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    assert interval.method == "bootstrap-t or student-t"
    assert ends(interval)[0] <= low + 1e-12
    assert ends(interval)[1] >= high - 1e-12
    assert only(values + [0.5, 0.25] * 15).method == "bootstrap-t"


def test_differences_of_0_and_1_are_no_hits_since_losses_are_possible() -> None:
    values = [1.0] * 2 + [0.0] * 98
    assert only(values, bounds=(-1, 1)).method == "bootstrap-t or student-t"
    assert only(values).method == "bootstrap-t or student-t"


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
    interval = ends(only(values, clusters=codes))
    assert interval == pytest.approx((mean - high_t * se, mean - low_t * se), abs=0.1 * se)


def test_clusters_with_equal_means_have_nothing_to_go_by() -> None:
    values = [0.0, 1.0, 0.25, 0.75, 0.5, 0.5]
    assert only(values, clusters=[0, 0, 1, 1, 2, 2], bounds=(0, 1)) == NONE


def test_clusters_that_are_constant_count_as_their_number() -> None:
    interval = only([0.0] * 20, clusters=[0] * 10 + [1] * 10, bounds=(0, 1))
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / 2))


def test_hits_in_clusters_of_one_have_the_exact_interval() -> None:
    hits = [0.0] + [1.0] * 19
    plain, clustered = (
        only(hits, bounds=(0, 1), clusters=clusters) for clusters in (None, range(20))
    )
    assert (plain.method, clustered.method) == ("clopper-pearson", "cluster clopper-pearson")
    assert ends(clustered) == pytest.approx(ends(plain), abs=1e-9)
    assert ends(plain) == pytest.approx((0.751, 0.999), abs=5e-4)


@pytest.mark.parametrize("variants", [1, 2, 5, 20])
@pytest.mark.parametrize("misses", [1, 3, 6])
def test_one_more_variant_does_not_narrow_the_interval_of_hits(variants: int, misses: int) -> None:
    hits = [0.0] * misses + [1.0] * (20 - misses)
    plain = only(hits, bounds=(0, 1))
    more = only(hits + [1.0] * variants, bounds=(0, 1), clusters=[*range(20), *[19] * variants])
    assert ends(more)[0] <= ends(plain)[0] + 1e-9
    assert ends(more)[1] >= ends(plain)[1] - 1e-9


def test_clustered_hits_have_no_narrower_interval_than_independent_ones() -> None:
    # 38 of 40 hits; the two misses are in one cluster, or in two.
    for misses in ([0, 1], [0, 2]):
        hits = np.ones(40)
        hits[misses] = 0.0
        low, high = ends(only(hits, bounds=(0, 1), clusters=np.repeat(np.arange(20), 2)))
        independent = stats.binomtest(38, 40).proportion_ci(method="exact")
        assert low <= independent.low
        assert high >= independent.high


def test_hits_in_clusters_by_hand() -> None:
    # Shares 1, 1/2, 0 and 1 of clusters of 2, 2, 1 and 1 queries: 4 of 6, and a mean share of 5/8.
    interval = only([1, 1, 1, 0, 0, 1], bounds=(0, 1), clusters=[0, 0, 1, 1, 2, 3])
    student = stats.t.ppf(0.975, 5) / stats.t.ppf(0.975, 3)
    weighted = (2 * (2 / 6 * 2 / 6) ** 2) / 2 + (2 / 6 * 1 / 6) ** 2
    weighted += (1 / 6 * 2 / 3) ** 2 + (1 / 6 * 1 / 3) ** 2
    equal = ((3 / 8) ** 2 * 2 + (1 / 8) ** 2 + (5 / 8) ** 2) / 16
    expected = []
    for mean, variance in ((4 / 6, weighted), (5 / 8, equal)):
        size = min(mean * (1 - mean) / variance * student**2, 6)
        hits, misses = mean * size, (1 - mean) * size
        expected.append(
            (stats.beta.ppf(0.025, hits, misses + 1), stats.beta.ppf(0.975, hits + 1, misses))
        )
    lows, highs = zip(*expected, strict=True)
    assert ends(interval) == pytest.approx((min(lows), max(highs)), abs=1e-9)


@pytest.mark.parametrize(("hits", "n"), [(1, 10), (4, 30), (1, 300)])
def test_gaffkes_interval_of_hits_is_clopper_and_pearsons(hits: int, n: int) -> None:
    values = np.array([1.0] * hits + [0.0] * (n - hits))
    interval = gaffke_ends(values, (0.0, 1.0), level=0.95, draws=199_999, seed=0)
    expected = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert interval == pytest.approx((expected.low, expected.high), rel=0.02)


def test_scores_of_nearly_all_hits_leave_room_for_what_the_bounds_allow() -> None:
    scores = np.array([1.0] * 17 + [0.63, 0.5, 0.97])
    interval = only(scores, bounds=(0, 1))
    assert interval.method == "gaffke"
    # Resampled, the three that differ give an end below 0.7.
    assert ends(interval) == pytest.approx((0.79, 1.0), abs=0.01)
    mirrored = only(1.0 - scores, bounds=(0, 1))
    assert ends(mirrored) == pytest.approx((1 - ends(interval)[1], 1 - ends(interval)[0]), abs=0.01)
    # Nothing is known about the ends without bounds.
    assert only(scores).method == "bootstrap-t or student-t"


def coverage(samples: np.ndarray[tuple[int, int], np.dtype[np.float64]], truth: float) -> float:
    """Return how many columns of *samples* have an interval that holds the *truth*."""
    bounds = (0, 1) if samples.min() >= 0 else (-1, 1)
    intervals = [ends(each) for each in bootstrap_intervals(samples, bounds=bounds, draws=999)]
    return float(np.mean([low <= truth <= high for low, high in intervals]))


def test_the_mean_of_fifteen_hard_queries_is_held() -> None:
    rng = np.random.default_rng(12)
    recalls = (rng.random((15, 1_000, 2)) < 0.117).mean(axis=2)
    assert coverage(recalls, 0.117) >= 0.94


@pytest.mark.parametrize(("n", "share"), [(60, 0.4), (299, 0.12), (500, 0.12), (1_000, 0.05)])
def test_the_difference_of_close_runs_is_held(n: int, share: float) -> None:
    rng = np.random.default_rng(13)
    changes = rng.choice([-0.5, -0.37, 0.13, 0.37, 0.5, -0.13], size=(n, 1_000))
    differences = np.where(rng.random((n, 1_000)) < share, changes, 0.0)
    assert coverage(differences, 0.0) >= 0.94


def test_even_heavy_tails_get_the_wider_of_two_intervals() -> None:
    even = [-0.5, 0.5, 0.3, -0.3] * 20 + [0.0] * 420
    interval = only(even, bounds=(-1, 1))
    low, high = stats.t.interval(0.95, 499, np.mean(even), stats.sem(even))
    assert interval.method == "analytic bootstrap-t or student-t"
    assert ends(interval)[0] <= low + 1e-12
    assert ends(interval)[1] >= high - 1e-12
    # The same sizes, all gains: Student's interval would hold the truth too rarely.
    gains = np.abs(even)
    assert only(gains, bounds=(-1, 1)).method == "analytic bootstrap-t"


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
    interval = ends(only(values * scale + shift, draws=999))
    assert interval == pytest.approx(expected, rel=1e-4, abs=1e-4 * scale)


def test_an_open_bound_clips_one_end_and_gives_a_constant_no_interval() -> None:
    (open_end,) = bootstrap_intervals([0.0, 0.0, 0.0, 90.0, 3.0], bounds=(0.0, float("inf")))
    assert open_end.low == 0.0
    assert open_end.high is not None
    (constant,) = bootstrap_intervals([7.0, 7.0, 7.0], bounds=(0.0, float("inf")))
    assert (constant.low, constant.high, constant.method) == (None, None, "none")


def test_an_end_lies_no_further_out_than_the_bounds_allow() -> None:
    # Resampled, the four that differ give a t of twenty and more, which said nothing: 0 to 1.
    scores = [1.0] * 20 + [0.9, 0.63, 0.43, 0.0] * 2
    interval = only(scores, bounds=(0.0, 1.0))
    low, _ = gaffke_ends(np.array(scores), (0.0, 1.0), level=0.95, draws=9_999, seed=0)
    assert interval.method == "bootstrap-t or student-t"
    assert interval.low == low
    assert ends(only(scores))[0] < low
