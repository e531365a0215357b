"""Means and differences from few labels by people and labels by a model for every query."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.bootstrap import bootstrap_intervals
from karat.scoring.stats.moments import column_moments
from karat.scoring.stats.prediction_powered import METHOD, PoweredMean, prediction_powered
from karat.scoring.stats.signflip import sign_flip

DRAWS = 199
seeds = st.integers(0, 10_000)
sizes = st.integers(5, 60)


def only(human: object, model: object, **options: object) -> PoweredMean:
    given = {"draws": DRAWS, **options}
    (estimates,) = prediction_powered(human, model, **given)  # type: ignore[arg-type]
    return estimates


def some_scores(seed: int, queries: int, *, noise: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Return scores by people, with a mass at 0, and those by a noisy model that over-grades."""
    rng = np.random.default_rng(seed)
    people = np.clip(rng.normal(0.4, 0.4, queries), 0, 1)
    return people, np.clip(people + 0.1 + rng.normal(0, noise, queries), 0, 1)


def sampled(people: np.ndarray, count: int) -> np.ndarray:
    """Return *people* with NaN for all but the first *count* queries."""
    return np.where(np.arange(len(people)) < count, people, np.nan)


def width(estimate: PoweredMean) -> float:
    assert estimate.interval.low is not None
    assert estimate.interval.high is not None
    return estimate.interval.high - estimate.interval.low


def test_a_case_worked_by_hand() -> None:
    # People grade two of four queries; y = f / 2 exactly, so the weight is one half.
    estimate = only([0.2, 0.4, np.nan, np.nan], [0.4, 0.8, 0.6, 0.2])
    assert estimate.weight == pytest.approx(0.5)
    # 0.5 * mean(f) = 0.25, and the mean of y - 0.5 f is 0.
    assert estimate.mean == pytest.approx(0.25)
    assert (estimate.human, estimate.model) == (2, 2)


@pytest.mark.parametrize(
    ("weight", "estimate", "error"),
    [
        # ppi-python 0.2.3, by `python benchmarks/prediction_powered.py --reference`.
        (0.25, 0.4596875, 0.05016153106932392),
        (0.6, 0.45575000000000004, 0.04499137070039096),
        (1.0, 0.45125000000000004, 0.04286925981982894),
    ],
)
def test_agrees_with_ppi_python_for_the_same_weight(
    weight: float, estimate: float, error: float
) -> None:
    rows = np.arange(80)
    model = (rows * 7 % 11) / 10
    people = np.clip(model + ((rows * 5 % 13) - 7) / 20, 0, 1)
    powered = only(sampled(people, 40), model, weight=weight)
    assert powered.mean == pytest.approx(estimate, abs=1e-9)
    # ppi-python divides by n, Karat by n - 1; both groups have 40 queries.
    assert powered.se * math.sqrt(39 / 40) == pytest.approx(error, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(seeds, sizes, st.integers(0, 120), st.booleans())
def test_a_perfect_judge_moves_no_mean_and_narrows_no_interval(
    seed: int, judged: int, others: int, as_difference: bool
) -> None:
    people, _ = some_scores(seed, judged + others)
    bounds = (0, 1)
    if as_difference:
        people, bounds = people - some_scores(seed + 1, judged + others)[0], (-1, 1)
    estimate = only(sampled(people, judged), people, bounds=bounds, seed=seed)
    (interval,) = bootstrap_intervals(people, bounds=bounds, draws=DRAWS, seed=seed)
    (moments,) = column_moments(people)
    (test,) = sign_flip(people, draws=DRAWS, seed=seed)
    assert estimate.mean == pytest.approx(moments.mean)
    assert estimate.interval.low <= interval.low  # type: ignore[operator]
    assert estimate.interval.high >= interval.high  # type: ignore[operator]
    assert estimate.p >= test.p  # type: ignore[operator]
    if others:
        assert (estimate.weight, estimate.interval.method) == (1.0, METHOD)
    else:
        # People judged every query: these are the numbers of human labels.
        assert estimate.interval == interval
        assert (estimate.mean, estimate.se, estimate.p) == (moments.mean, moments.se, test.p)


@pytest.mark.parametrize(
    ("judged", "others", "errors", "base"),
    [
        (20, 2000, 0.08, 0.5),
        (5, 195, 0.2, 0.5),
        (10, 190, 0.3, 0.3),
        # All queries that the model calls a success are mistakes.
        (50, 950, 0.03, 0.0),
    ],
)
def test_rare_errors_in_one_direction_are_covered(
    judged: int, others: int, errors: float, base: float
) -> None:
    covered = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 4])
        people = (rng.random(judged + others) < base).astype(float)
        model = np.where(rng.random(judged + others) < errors, 1.0, people)
        estimate = only(sampled(people, judged), model, bounds=(0, 1), draws=99)
        covered += estimate.interval.low <= base <= estimate.interval.high  # type: ignore[operator]
    assert covered / 150 >= 0.93


@pytest.mark.parametrize(("judged", "errors"), [(20, 0.05), (50, 0.03)])
def test_a_rarely_biased_judge_does_not_make_equal_systems_differ(
    judged: int, errors: float
) -> None:
    alarms = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 5])
        people = rng.choice([-1.0, 0.0, 1.0], 1000, p=[0.1, 0.8, 0.1])
        model = np.where(rng.random(1000) < errors, np.minimum(people + 1, 1), people)
        estimate = only(sampled(people, judged), model, bounds=(-1, 1), draws=99)
        alarms += (estimate.p or 1.0) < 0.05
    assert alarms / 150 <= 0.07


def test_a_constant_sample_does_not_make_the_others_constant() -> None:
    # By the model, three of 300 queries fail; all are outside the sample.
    model = np.where(np.arange(300) < 297, 1.0, 0.0)
    estimate = only(sampled(model, 20), model, bounds=(0, 1))
    assert estimate.mean == pytest.approx(0.99)
    assert estimate.weight == 1.0
    assert estimate.interval.low < 0.9  # type: ignore[operator]
    # Without any failure it is the interval of the judged queries.
    constant = only(sampled(np.ones(300), 20), np.ones(300), bounds=(0, 1))
    (interval,) = bootstrap_intervals(np.ones(20), bounds=(0, 1), draws=DRAWS)
    assert constant.interval == interval
    assert (constant.mean, constant.effective) == (1.0, 20)


@settings(max_examples=25, deadline=None)
@given(seeds, sizes)
def test_weight_zero_is_the_interval_of_the_human_labels_alone(seed: int, judged: int) -> None:
    people, model = some_scores(seed, judged + 50)
    estimate = only(sampled(people, judged), model, bounds=(0, 1), weight=0.0, seed=seed)
    (interval,) = bootstrap_intervals(people[:judged], bounds=(0, 1), draws=DRAWS, seed=seed)
    assert estimate.interval == interval
    assert estimate.mean == pytest.approx(people[:judged].mean())
    assert estimate.effective == judged


def test_a_random_judge_gives_the_width_of_the_human_labels_alone() -> None:
    ratios, wider = [], []
    for seed in range(200):
        people, _ = some_scores(seed, 300)
        model = np.random.default_rng([seed, 1]).permutation(people)
        estimate = only(sampled(people, 40), model, bounds=(0, 1))
        alone, everything = (only(sampled(people, n), people, weight=0.0) for n in (40, 300))
        ratios.append(width(estimate) / width(alone))
        wider.append(width(estimate) / width(everything))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.04)
    assert min(wider) > 1.5
    assert only(sampled(people, 40), model).effective < 60


@settings(max_examples=40, deadline=None)
@given(seeds, sizes, st.floats(0.0, 1.0))
def test_a_good_judge_narrows_the_interval_and_counts_as_more_labels(
    seed: int, judged: int, weight: float
) -> None:
    people, model = some_scores(seed, judged + 300, noise=0.05)
    estimate = only(sampled(people, judged), model, bounds=(0, 1))
    assert 0.0 <= estimate.weight <= 1.0
    # A handful of judged queries may all score alike, and then shows nothing about the judge.
    assert judged < 20 or estimate.weight > 0.0
    assert estimate.interval.method == METHOD
    assert estimate.interval.low <= estimate.mean <= estimate.interval.high  # type: ignore[operator]
    assert estimate.interval.low >= 0.0  # type: ignore[operator]
    assert estimate.effective <= judged + 300
    fixed = only(sampled(people, judged), model, weight=weight)
    assert fixed.weight == weight


def test_effective_labels_of_a_good_judge() -> None:
    people, model = some_scores(3, 340, noise=0.1)
    estimate = only(sampled(people, 40), model, bounds=(0, 1))
    (alone,) = column_moments(people[:40])
    assert estimate.se < 0.6 * alone.se
    assert 100 < estimate.effective < 340


@settings(max_examples=25, deadline=None)
@given(seeds, st.floats(-3, 3), st.floats(0.1, 5))
def test_shifting_or_scaling_scores_moves_the_interval_along(
    seed: int, shift: float, factor: float
) -> None:
    people, model = some_scores(seed, 120)
    before = only(sampled(people, 30), model)
    after = only(sampled(people, 30) * factor + shift, model * factor + shift)
    for old, new in (
        (before.mean, after.mean),
        (before.interval.low, after.interval.low),
        (before.interval.high, after.interval.high),
    ):
        assert new == pytest.approx(old * factor + shift, abs=1e-9)  # type: ignore[operator]
    assert after.weight == pytest.approx(before.weight)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(8, 40), st.floats(-0.2, 0.2), st.sampled_from([0.9, 0.95, 0.99]))
def test_p_is_below_the_level_exactly_if_the_interval_excludes_zero(
    seed: int, judged: int, shift: float, level: float
) -> None:
    people, model = some_scores(seed, 200)
    other, others_model = some_scores(seed + 1, 200)
    difference = sampled(people - other, judged) + shift
    estimate = only(difference, model - others_model + shift, level=level)
    if estimate.interval.method != METHOD:
        return
    assert estimate.p is not None
    excludes = estimate.interval.low > 0 or estimate.interval.high < 0  # type: ignore[operator]
    assert excludes == (estimate.p < 1 - level)


def test_a_skewed_estimate_reaches_further_to_its_longer_side() -> None:
    rng = np.random.default_rng(4)
    people = rng.exponential(1.0, 400)
    estimate = only(sampled(people, 25), people + rng.exponential(0.5, 400))
    assert estimate.mean is not None
    up, down = estimate.interval.high - estimate.mean, estimate.mean - estimate.interval.low  # type: ignore[operator]
    assert up != pytest.approx(down)


def test_a_skewed_difference_far_from_zero_has_a_small_p_on_either_side() -> None:
    rng = np.random.default_rng(5)
    people = rng.exponential(1.0, 300) + 1
    model = people + rng.normal(0, 0.3, 300)
    for sign in (1.0, -1.0):
        estimate = only(sign * sampled(people, 30), sign * model)
        assert estimate.p is not None
        assert estimate.p < 1e-6
    near = only(sampled(people, 30) - people.mean() + 1e-4, model - people.mean())
    assert near.p is not None
    assert near.p > 0.3


def test_columns_do_not_depend_on_each_other() -> None:
    rng = np.random.default_rng(6)
    hits = (rng.random(300) < 0.7).astype(float)
    people, model = some_scores(6, 300)
    both = prediction_powered(
        np.stack([sampled(hits, 20), sampled(people, 20)], axis=1),
        np.stack([hits, model], axis=1),
        bounds=(0, 1),
        draws=DRAWS,
    )
    assert both[0] == only(sampled(hits, 20), hits, bounds=(0, 1))
    assert both[1] == only(sampled(people, 20), model, bounds=(0, 1))
    # No disagreement about hits in 20 queries does not rule out 3 in 20.
    (interval,) = bootstrap_intervals(hits, bounds=(0, 1), draws=DRAWS)
    assert width(both[0]) > 2 * (interval.high - interval.low)  # type: ignore[operator]


def test_few_disagreements_count_as_three() -> None:
    rng = np.random.default_rng(7)
    hits = (rng.random(300) < 0.7).astype(float)
    estimates = {}
    for count in (1, 2, 3, 4):
        people = hits.copy()
        people[:count] = 1 - people[:count]
        estimates[count] = only(sampled(people, 30), hits, bounds=(0, 1))
    assert estimates[1].se >= estimates[3].se * 0.8
    assert estimates[4].se > estimates[3].se


def test_queries_judged_by_people_only_or_by_the_model_only() -> None:
    people, model = some_scores(8, 30)
    everything = only(people, model, bounds=(0, 1))
    (interval,) = bootstrap_intervals(people, bounds=(0, 1), draws=DRAWS)
    assert everything.interval == interval
    assert (everything.human, everything.model, everything.weight) == (30, 0, 0.0)
    for count in (0, 1):
        nothing = only(sampled(people, count), model)
        assert nothing.mean is None
        assert nothing.p is None
        assert nothing.interval.method == "none"
        assert (nothing.human, nothing.model) == (count, 30 - count)
    # A query without a score by the model is left out.
    model[5] = np.nan
    assert only(sampled(people, 10), model).human == 9


def test_scores_without_any_variance() -> None:
    human = sampled(np.full(30, 0.5), 10)
    constant = only(human, np.full(30, 0.7), weight=1.0)
    assert constant.mean == pytest.approx(0.5)
    assert (constant.se, constant.p) == (0.0, None)
    assert constant.interval.method == "none"
    # An estimated weight is 0: the labels of the model say nothing.
    assert only(human, np.full(30, 0.7), bounds=(0, 1)).interval.method == "constant"
    varied = only(human, some_scores(0, 30)[1], weight=0.5)
    assert varied.effective == 0.0


def test_queries_of_one_cluster_are_one_unit() -> None:
    people, model = some_scores(9, 150)
    human = sampled(people, 30)
    # Each query twice: as clusters this is the same information.
    twice = only(np.repeat(human, 2), np.repeat(model, 2), clusters=np.repeat(np.arange(150), 2))
    once = only(human, model)
    assert twice.mean == pytest.approx(once.mean)
    assert twice.se == pytest.approx(once.se)
    assert width(twice) == pytest.approx(width(once))
    assert only(np.repeat(human, 2), np.repeat(model, 2)).se < 0.8 * once.se


def test_clusters_of_a_perfect_judge_are_whole_units() -> None:
    people, _ = some_scores(10, 90)
    clusters = np.arange(90) // 3
    options = {"bounds": (0, 1), "draws": DRAWS, "clusters": clusters}
    (interval,) = bootstrap_intervals(people, **options)  # type: ignore[arg-type]
    estimate = only(sampled(people, 30), people, **options)
    assert estimate.interval.low <= interval.low  # type: ignore[operator]
    assert estimate.interval.high >= interval.high  # type: ignore[operator]
    assert estimate.mean == pytest.approx(people.mean())
    everything = only(people, people, **options)
    assert everything.interval == interval
    (moments,) = column_moments(people, clusters=clusters)
    assert everything.se == moments.se


def test_a_single_cluster_in_the_sample_has_no_interval() -> None:
    people, model = some_scores(11, 60)
    estimate = only(sampled(people, 10), model, clusters=np.arange(60) // 10)
    assert estimate.mean is None


def test_one_stratum_is_no_stratum() -> None:
    people, model = some_scores(12, 100)
    human = sampled(people, 30)
    assert only(human, model, strata=["a"] * 100) == only(human, model)


def test_strata_are_weighted_by_their_size() -> None:
    people, model = some_scores(13, 400)
    strata = np.arange(400) < 100
    people = people + strata  # the first stratum is better by far
    model = model + strata
    rng = np.random.default_rng(13)
    # People judged half of the small stratum, and a tenth of the large one.
    judged = np.where(strata, rng.random(400) < 0.5, rng.random(400) < 0.1)
    human = np.where(judged, people, np.nan)
    estimate = only(human, model, strata=strata)
    low, high = estimate.interval.low, estimate.interval.high
    assert low is not None
    assert high is not None
    assert low < people.mean() < high
    # With weight 0 it is the stratified mean, not the mean of the sample.
    zero = only(human, model, strata=strata, weight=0.0)
    expected = sum(
        (strata == each).mean() * people[judged & (strata == each)].mean() for each in (0, 1)
    )
    assert zero.mean == pytest.approx(expected)
    assert zero.mean != pytest.approx(people[judged].mean(), abs=0.1)


def test_strata_cover_the_true_mean() -> None:
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 2])
        strata = (rng.random(400) < 0.25).astype(int)
        people = np.clip(rng.normal(0.3 + 0.4 * strata, 0.2), 0, 1)
        model = np.clip(people + 0.1 + rng.normal(0, 0.1, 400), 0, 1)
        judged = rng.random(400) < np.where(strata == 1, 0.3, 0.08)
        estimate = only(np.where(judged, people, np.nan), model, strata=strata)
        true = 0.75 * clipped_mean(0.3) + 0.25 * clipped_mean(0.7)
        covered += estimate.interval.low <= true <= estimate.interval.high  # type: ignore[operator]
    assert 0.91 <= covered / 300 <= 0.99


def clipped_mean(mean: float) -> float:
    """Return the mean of a normal with deviation 0.2, clipped to 0 and 1."""
    grid = np.linspace(0, 1, 10_001)[1:]
    return float((1 - stats.norm.cdf(grid, mean, 0.2)).mean())


def test_coverage_of_a_difference_that_the_judge_does_not_see() -> None:
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 3])
        first, second = rng.random((2, 200))
        # The model favours the second engine; in truth there is no difference.
        model = np.clip(second + 0.2 + rng.normal(0, 0.1, 200), 0, 1) - first
        estimate = only(sampled(second - first, 20), model, bounds=(-1, 1))
        covered += estimate.interval.low <= 0 <= estimate.interval.high  # type: ignore[operator]
    assert 0.92 <= covered / 300 <= 0.985


@pytest.mark.parametrize(
    ("human", "model", "options", "message"),
    [
        ([0.1, 0.2], [0.1, 0.2, 0.3], {}, "shape"),
        ([0.1, 0.2], [0.1, 0.2], {"level": 2}, "confidence level"),
        ([0.1, 0.2], [0.1, 0.2], {"draws": 5}, "draws is 5"),
        ([0.1, 0.2, np.nan], [0.2, 0.2, 0.3], {"strata": [0, 0, 1]}, "fewer than two queries"),
    ],
)
def test_input_errors(
    human: list[float], model: list[float], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        only(human, model, **options)
