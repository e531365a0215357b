import math

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.moments import Moments
from karat.scoring.stats.power import (
    Threshold,
    check_power,
    hits_power,
    mean_level,
    reach,
    smallest_mean,
    smallest_share,
)


def detectable(sd: float, n: int) -> float:
    return reach(n - 1, level=0.95, power=0.8) * sd / math.sqrt(n)


@pytest.mark.parametrize(
    ("sd", "n", "expected"),
    [(0.2, 30, 0.106), (0.3, 30, 0.159), (0.4, 127, 0.100), (0.3, 500, 0.038), (0.2, 1_000, 0.018)],
)
def test_known_table(sd: float, n: int, expected: float) -> None:
    assert detectable(sd, n) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("n", [20, 127, 1_000])
def test_the_t_test_has_the_promised_power(n: int) -> None:
    shift = detectable(0.3, n) / 0.3 * math.sqrt(n)
    power = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)
    assert power == pytest.approx(0.8, abs=0.01)


def test_a_power_of_one_half_or_less_is_rejected() -> None:
    check_power(0.8)
    with pytest.raises(InputError, match="power"):
        check_power(0.5)


def power_of_hits(n: int, changed: float, difference: float, level: float) -> float:
    """Return the power of McNemar's test, by the trinomial distribution of wins and losses."""
    won = (changed + difference) / 2
    total = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            if (
                stats.binomtest(wins, wins + losses).pvalue <= level + 1e-12
                if wins > losses
                else False
            ):
                total += stats.multinomial.pmf(
                    [wins, losses, n - wins - losses], n, [won, changed - won, 1 - changed]
                )
    return total


@pytest.mark.parametrize(
    ("n", "changed", "difference", "level"),
    [(12, 0.5, 0.4, 0.05), (30, 0.3, 0.3, 0.05), (40, 0.25, 0.2, 0.01)],
)
def test_the_power_of_hits_is_that_of_all_numbers_of_wins_and_losses(
    n: int, changed: float, difference: float, level: float
) -> None:
    expected = power_of_hits(n, changed, difference, level)
    assert hits_power(n, changed, difference, Threshold(level)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("n", "changed"), [(12, 4), (60, 15), (500, 60), (7_000, 900)])
@pytest.mark.parametrize("level", [0.05, 0.003])
def test_one_hit_less_is_not_detected_with_the_promised_power(
    n: int, changed: int, level: float
) -> None:
    threshold = Threshold(level)
    steps = smallest_share(n, changed, threshold, power=0.8)
    if steps is None:
        assert hits_power(n, 1.0, 1.0, threshold) < 0.8
        return
    assert hits_power(n, max(changed, steps) / n, steps / n, threshold) >= 0.8
    assert hits_power(n, max(changed, steps - 1) / n, (steps - 1) / n, threshold) < 0.8


def test_many_hits_are_detected_like_means() -> None:
    steps = smallest_share(7_000, 900, Threshold(0.05), power=0.8)
    assert steps is not None
    assert steps == pytest.approx(2.802 * math.sqrt(900), rel=0.02)


def test_no_number_of_wins_is_enough_for_five_queries() -> None:
    assert smallest_share(5, 5, Threshold(0.05), power=0.8) is None
    assert smallest_share(6, 2, Threshold(0.05), power=0.8) is not None
    assert smallest_share(60, 10, Threshold(0.0), power=0.8) is None


def test_the_level_of_a_pair_is_that_of_its_sum() -> None:
    # Sum and length of a sample, and its paired t test.
    values = np.random.default_rng(4).normal(0.4, 1.0, 20)
    least = values.sum() / math.sqrt((values**2).sum())
    assert mean_level(least, 20) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert mean_level(5.0, 20) == 0.0


def test_hits_must_exceed_the_sum_of_the_family() -> None:
    # Of nine changed queries all are wins: their sum over its length is 9 / 3.
    assert hits_power(9, 1.0, 1.0, Threshold(0.05, least=2.9)) == pytest.approx(1.0)
    assert hits_power(9, 1.0, 1.0, Threshold(0.05, least=3.0)) == 0.0
    # From eight wins and one loss on, 7 / 3, by the sum alone or by the p value alone.
    expected = stats.binom.sf(7, 9, 0.9)
    assert hits_power(9, 1.0, 0.8, Threshold(1.0, least=5 / 3)) == pytest.approx(expected)
    assert hits_power(9, 1.0, 0.8, Threshold(0.05)) == pytest.approx(expected)
    alone = smallest_share(200, 30, Threshold(0.05), power=0.8)
    family = smallest_share(200, 30, Threshold(0.05, least=2.9), power=0.8)
    assert alone is not None
    assert family is not None
    assert family > alone


def moments(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Moments:
    sd = float(values.std(ddof=1))
    return Moments(len(values), len(values), float(values.mean()), sd, sd / math.sqrt(len(values)))


def test_six_queries_need_differences_of_one_sign() -> None:
    moments_ = moments(np.array([-1.0, 1.0, 0.5, -0.5, 0.2, 0.3]))
    size = smallest_mean(moments_, Threshold(0.05), changed=6, power=0.8)
    assert size is not None
    # The chance that six normal values around it are all above 0.
    assert stats.norm.cdf(size / moments_.sd) ** 6 == pytest.approx(0.82)
    seven = smallest_mean(moments_, Threshold(0.05), changed=7, power=0.8)
    # The interval must agree with the test.
    assert seven == pytest.approx(reach(5, level=0.95, power=0.82) * moments_.se)
    assert smallest_mean(moments_, Threshold(0.05), changed=5, power=0.8) is None
    assert (
        smallest_mean(moments_._replace(se=math.nan), Threshold(0.05), changed=9, power=0.8) is None
    )
