import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.scoring.stats.arrays import generator, resample_counts
from karat.scoring.stats.signflip import (
    flip_sums,
    least_sum,
    resample_halves,
    resample_sums,
    step_down,
)


def test_step_down_by_hand() -> None:
    # Three queries: patterns + + +, - + +, + - +, - - + up to the sign.
    columns = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]])
    flips = flip_sums(columns, draws=99, seed=0)
    # Column 0 sums to 3 (once in four); column 1 to 0, which every pattern reaches.
    assert step_down(flips, [0, 1]) == [0.25, 1.0]


def test_step_down_is_never_below_raw_and_ordered_by_the_statistic() -> None:
    columns = np.random.default_rng(2).normal(0.05, 0.3, (60, 8)) + np.linspace(0, 0.1, 8)
    flips = flip_sums(columns, draws=1_999, seed=0)
    raw = [
        flips.p(int((sums >= observed - flips.slack).sum()))
        for sums, observed in zip(flips.sums, flips.observed, strict=True)
    ]
    corrected = step_down(flips, range(8))
    assert all(after >= before for after, before in zip(corrected, raw, strict=True))
    order = np.argsort(-flips.observed)
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)
    # The last one down stands alone.
    assert corrected[order[-1]] == max(raw[order[-1]], corrected[order[-2]])


def test_copies_of_one_comparison_cost_nothing() -> None:
    column = np.random.default_rng(4).normal(0.08, 0.3, 60)
    flips = flip_sums(np.stack([column] * 5, axis=1), draws=1_999, seed=0)
    alone = flip_sums(column[:, None], draws=1_999, seed=0)
    assert step_down(flips, range(5)) == step_down(alone, [0]) * 5


def test_resamples_are_sums_over_their_length_and_ordered_as_t() -> None:
    values = np.random.default_rng(0).exponential(1.0, (40, 2))
    centred = values - values.mean(axis=0)
    sums = resample_sums(centred, draws=299, seed=3)
    (counts,) = resample_counts(generator(3), draws=299, width=40)
    for column in range(2):
        drawn = [np.repeat(centred[:, column], row.astype(int)) for row in counts]
        expected = [abs(one.sum()) / math.sqrt((one * one).sum()) for one in drawn]
        assert sums[column] == pytest.approx(expected, rel=1e-5, abs=1e-5)
        t = [abs(one.mean()) / one.std(ddof=1) for one in drawn]
        assert np.array_equal(np.argsort(t), np.argsort(expected))


def test_half_of_the_draws_are_resamples_by_hand() -> None:
    column = np.random.default_rng(1).exponential(1.0, 60) - 0.8
    flips = flip_sums(column[:, None], draws=999, seed=0)
    halves = resample_halves(flips, (column - column.mean())[:, None], seed=0)
    assert len(halves[0]) == 499
    least = flips.observed[0] - flips.slack
    reached = (flips.sums[0, :500] >= least).sum() + (halves[0] >= least).sum()
    assert step_down(flips, [0], halves) == [(reached + 1) / 1_000]


def test_all_patterns_stay_exact() -> None:
    columns = np.random.default_rng(0).normal(size=(8, 3))
    flips = flip_sums(columns, draws=999, seed=0)
    assert flips.complete
    assert resample_halves(flips, columns - columns.mean(axis=0), seed=0) == {}


def test_no_pair_has_resamples_if_all_hardly_differ() -> None:
    columns = np.zeros((80, 1))
    columns[:18, 0] = np.random.default_rng(0).normal(size=18)
    flips = flip_sums(columns, draws=999, seed=0)
    assert not flips.complete
    assert resample_halves(flips, columns - columns.mean(axis=0), seed=0) == {}


def test_pairs_that_hardly_differ_keep_their_flips_and_take_nothing_from_the_others() -> None:
    rng = np.random.default_rng(2)
    columns = np.zeros((80, 3))
    columns[:, 0] = rng.normal(0.12, 0.3, 80)
    # Three of 80 differ: one resample in twenty has none of them, no variance, and any t at all.
    columns[:3, 1] = (0.5, -0.25, 0.3)
    flips = flip_sums(columns, draws=4_999, seed=0)
    halves = resample_halves(flips, columns - columns.mean(axis=0), seed=0)
    assert list(halves) == [0]
    alone = step_down(flips, [0], halves)[0]
    assert step_down(flips, [0, 1, 2], halves)[0] <= alone + 0.01
    assert step_down(flips, [2], halves) == [1.0]


def test_a_resample_of_nothing_but_the_mean_counts_as_no_difference() -> None:
    centred = np.zeros((6, 1))
    centred[0], centred[1] = 1.0, -1.0
    assert np.isfinite(resample_sums(centred, draws=99, seed=0)).all()


def test_a_large_effect_has_the_smallest_p_that_the_draws_allow() -> None:
    columns = 0.5 + np.random.default_rng(0).random((200, 3))
    flips = flip_sums(columns, draws=999, seed=0)
    halves = resample_halves(flips, columns - columns.mean(axis=0), seed=0)
    assert step_down(flips, range(3), halves) == [1 / 1_000] * 3


def test_rare_large_losses_are_taken_more_carefully_than_by_flips_alone() -> None:
    # Gains of about 0.03 nearly everywhere; the losses that pay for them did not come up often.
    column = np.full(60, 0.03) + np.random.default_rng(5).normal(0.0, 0.03, 60)
    column[0] = -0.5
    flips = flip_sums(column[:, None], draws=9_999, seed=0)
    halves = resample_halves(flips, (column - column.mean())[:, None], seed=0)
    assert step_down(flips, [0], halves)[0] > step_down(flips, [0])[0]


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.floats(0.001, 1_000))
def test_sign_and_scale_do_not_matter(seed: int, scale: float) -> None:
    column = np.random.default_rng(seed).exponential(0.3, 30) - 0.2
    columns = np.stack([column, -column, column * scale], axis=1)
    flips = flip_sums(columns, draws=999, seed=0)
    halves = resample_halves(flips, columns - columns.mean(axis=0), seed=0)
    ps = [step_down(flips, [index], halves)[0] for index in range(3)]
    assert ps == pytest.approx([ps[0]] * 3, abs=3 / 1_000)


@pytest.mark.parametrize("n", [8, 60])
def test_a_sum_is_significant_above_the_least_one(n: int) -> None:
    rng = np.random.default_rng(15)
    columns = rng.normal(0.3, 1.0, (n, 4))
    flips = flip_sums(columns, draws=999, seed=0)
    halves = resample_halves(flips, columns - columns.mean(axis=0), seed=0)
    # The first step of the correction is over all columns: the one with the largest sum.
    largest = int(np.argmax(flips.observed))
    p = step_down(flips, range(4), halves)[largest]
    for level in (0.01, 0.05, 0.2, 0.5):
        least = least_sum(flips, range(4), halves, level=level)
        assert (flips.observed[largest] / flips.unit > least) is np.bool_(p <= level)
