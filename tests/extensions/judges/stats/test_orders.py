import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.extensions.judges.stats.orders import (
    kendall_tau_b,
    order_agreement,
    system_bias,
    tau_ap,
)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8),
)
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    tau = kendall_tau_b(first, second)

    if tau is None:
        assert 1 in (len(set(first)), len(set(second)))
    else:
        assert tau == pytest.approx(stats.kendalltau(first, second).statistic)


def test_tau_ties_scores_that_differ_by_rounding() -> None:
    assert kendall_tau_b([0.1 + 0.2, 0.3, 1], [1, 1, 2]) == 1.0


def test_tau_ap_weighs_the_top() -> None:
    # Yilmaz, Aslam and Robertson (2008): of an order of N, the mean share of systems above each
    # one that belong there, from the second on.
    truth = [5, 4, 3, 2, 1]
    assert tau_ap(truth, truth) == 1.0
    assert tau_ap(truth, truth[::-1]) == -1.0
    assert tau_ap(truth, [4, 5, 3, 2, 1]) == pytest.approx(2 * (0 + 1 + 1 + 1) / 4 - 1)
    assert tau_ap(truth, [5, 4, 3, 1, 2]) == pytest.approx(2 * (1 + 1 + 1 + 3 / 4) / 4 - 1)
    assert tau_ap([1, 1, 0], [2, 1, 0]) == pytest.approx(2 * (0.5 + 1) / 2 - 1)
    assert tau_ap([1, 2], [3, 3]) is None


def test_order_agreement_resamples_queries() -> None:
    rng = np.random.default_rng(2)
    people = rng.random((80, 5)) + np.arange(5) * 0.1
    model = people + rng.normal(0, 0.3, (80, 5))
    model[3, 1] = np.nan
    order = order_agreement(people, model, draws=499)

    known = np.arange(80) != 3
    expected = stats.kendalltau(people[known].mean(axis=0), model[known].mean(axis=0)).statistic
    assert (order.systems, order.queries) == (5, 79)
    assert order.tau == pytest.approx(expected)
    assert order.interval.low is not None
    assert order.interval.low < 1
    assert order.interval.method == "bca"


def test_the_same_scores_give_the_same_order_in_every_resample() -> None:
    scores = np.random.default_rng(4).random((40, 3))
    order = order_agreement(scores, scores, draws=199)

    assert order.tau == order.tau_ap == order.interval.high == 1.0
    assert order.interval.method == "constant"


def test_an_order_needs_systems_and_common_queries() -> None:
    one = order_agreement([[0.1], [0.2]], [[0.1], [0.3]])
    none = order_agreement([[0.1, np.nan]], [[0.1, 0.2]])

    assert (one.tau, one.tau_ap, one.interval.method) == (None, None, "none")
    assert (none.queries, none.tau) == (0, None)
    with pytest.raises(InputError, match=r"\(1, 2\) and \(1, 1\)"):
        order_agreement([[0.1, 0.2]], [[0.1]])


def test_a_resample_may_tie_every_system() -> None:
    # Half of the two queries tie the systems: a resample of that one alone has no order.
    order = order_agreement([[0.5, 0.5], [0.1, 0.9]], [[0.5, 0.5], [0.1, 0.9]], draws=199)

    assert order.tau == 1.0
    assert order.interval.method == "constant"
    rare = order_agreement([[0.5, 0.5]] * 9 + [[0.1, 0.9]], [[0.5, 0.5]] * 9 + [[0.1, 0.9]])
    assert rare.interval.method == "constant"


def test_an_order_that_most_resamples_lack_has_no_interval() -> None:
    # Only the first query orders the systems for people, only the second one for the model: about
    # 40 % of the resamples contain both.
    people, model = np.full((2, 10, 2), 0.5)
    people[0] = model[1] = (0.1, 0.9)
    order = order_agreement(people, model, draws=499)

    assert order.tau == 1.0
    assert order.interval.method == "none"


def test_a_judge_that_favours_one_system() -> None:
    rng = np.random.default_rng(6)
    people = rng.random((60, 3)) * 0.5
    generous = people + 0.1 + rng.normal(0, 0.02, (60, 3))
    partial = generous + np.array([0, 0, 0.06])

    fair = system_bias(people, generous, draws=999)
    biased = system_bias(people, partial, draws=999)

    assert all(each.p is not None and each.p > 0.05 for each in fair)
    assert biased[2].bias == pytest.approx(0.04, abs=0.01)
    assert biased[2].p is not None
    assert biased[2].p < 0.01
    assert biased[2].interval.low is not None
    assert biased[2].interval.low > 0
    assert sum(each.bias or 0 for each in biased) == pytest.approx(0)


def test_biases_are_corrected_for_the_number_of_systems() -> None:
    rng = np.random.default_rng(8)
    people, model = rng.random((2, 30, 3))
    raw = stats.ttest_1samp(
        (model - people) - (model - people).mean(axis=1, keepdims=True), 0
    ).pvalue
    p_values = [each.p for each in system_bias(people, model, draws=999)]

    assert min(p_values) == pytest.approx(min(1, 3 * min(raw)), abs=0.1)  # type: ignore[type-var]


def test_equal_scores_have_no_bias() -> None:
    scores = np.random.default_rng(9).random((20, 4))
    biases = system_bias(scores, scores + 0.1, draws=99)

    assert [each.bias for each in biases] == [0.0] * 4
    assert [each.p for each in biases] == [1.0] * 4


def test_bias_needs_systems_and_queries() -> None:
    (alone,) = system_bias([[0.1]], [[0.2]])
    unknown = system_bias([[0.1, np.nan]], [[0.2, 0.1]])

    assert (alone.bias, alone.p, alone.interval.method) == (None, None, "none")
    assert [each.n for each in unknown] == [0, 0]
