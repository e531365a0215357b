import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.agreement import (
    agreement,
    binary_agreement,
    confusion_table,
    further_units,
    kendall_tau_b,
    krippendorff_alpha,
    order_agreement,
    system_bias,
    tau_ap,
    weighted_kappa,
)

grades = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def test_kappa_of_a_published_table() -> None:
    # Cohen (1968), table 1 in the form of Fleiss, Cohen and Everitt (1969): kappa 0.492.
    counts = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
    first = [i for i in range(3) for j in range(3) for _ in range(counts[i][j])]
    second = [j for i in range(3) for j in range(3) for _ in range(counts[i][j])]

    assert weighted_kappa(first, second) == pytest.approx(0.4915, abs=5e-5)


def test_kappa_by_hand() -> None:
    # Observed cost 1 of 4; margins 2-2 and 1-2-1 give the expected costs.
    first, second = [0, 0, 2, 2], [0, 1, 1, 2]

    assert weighted_kappa(first, second, weights="linear") == pytest.approx(1 - 2 / 4)
    assert weighted_kappa(first, second, weights="quadratic") == pytest.approx(1 - 2 / 6)


@given(grades)
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: str, pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = zip(*pairs, strict=True)
    kappa = weighted_kappa(first, second, weights=weights)

    if kappa is None:
        assert len({*first, *second}) == 1
        return
    theirs = metrics.cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3], weights=None if weights == "none" else weights
    )
    assert kappa == pytest.approx(theirs, abs=1e-12)


@given(grades)
def test_a_perfect_judge_has_kappa_1(pairs: list[tuple[int, int]]) -> None:
    first = [grade for grade, _ in pairs]
    agreed = agreement(first, first, clusters=range(len(first)), draws=99)

    assert agreed.share == 1
    assert agreed.kappa in (1.0, None)
    assert agreed.kappa == agreed.plain == agreed.alpha
    assert (agreed.kappa is None) == (len(set(first)) == 1)


def test_a_perfect_judge_on_few_queries_is_not_surely_perfect() -> None:
    agreed = agreement([0, 1, 2, 3] * 10, [0, 1, 2, 3] * 10, clusters=[n % 10 for n in range(40)])

    assert agreed.kappa == agreed.interval.high == 1.0
    assert agreed.interval.method == "constant"
    assert agreed.interval.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 10)))


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_a_random_judge_has_kappa_near_0(weights: str) -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 4, (2, 4_000))
    agreed = agreement(first, second, clusters=np.arange(4_000) // 8, weights=weights, draws=499)

    assert agreed.kappa == pytest.approx(0, abs=0.05)
    assert agreed.alpha == pytest.approx(0, abs=0.05)
    assert agreed.interval.low is not None
    assert agreed.interval.high is not None
    assert agreed.interval.low < 0 < agreed.interval.high


def test_dependent_labels_of_a_query_widen_the_interval() -> None:
    rng = np.random.default_rng(5)
    first = rng.integers(0, 4, (60, 1))
    second = np.where(rng.random((60, 1)) < 0.7, first, 3 - first)
    one, other = (np.repeat(each, 10, axis=1).ravel() for each in (first, second))
    query = np.repeat(np.arange(60), 10)

    whole, single = (
        agreement(one, other, clusters=clusters, draws=999).interval
        for clusters in (query, np.arange(600))
    )

    assert whole.method == single.method == "bca"
    widths = [each.high - each.low for each in (whole, single)]  # type: ignore[operator]
    assert widths[0] == pytest.approx(widths[1] * np.sqrt(10), rel=0.2)


def test_the_interval_covers_the_true_kappa() -> None:
    rng = np.random.default_rng(7)
    shares = [0.5, 0.2, 0.2, 0.1]

    def sample(queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, random = rng.choice(4, size=(2, queries, 4), p=shares)
        sure = rng.beta(3, 1.5, size=(queries, 1))
        second = np.where(rng.random((queries, 4)) < sure, first, random)
        return first.ravel(), second.ravel(), np.repeat(np.arange(queries), 4)

    # A judge that repeats the grade with probability 2 / 3 and guesses otherwise has kappa 2 / 3.
    covered = 0
    for seed in range(100):
        first, second, query = sample(40)
        interval = agreement(first, second, clusters=query, draws=299, seed=seed).interval
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= 2 / 3 <= interval.high

    assert covered >= 88


def test_one_query_and_one_grade_have_no_interval() -> None:
    alone = agreement([0, 1], [0, 1], clusters=["q", "q"])
    same = agreement([1, 1], [1, 1], clusters=["a", "b"])

    assert (alone.kappa, alone.interval.method) == (1.0, "none")
    assert (same.kappa, same.plain, same.alpha, same.interval.method) == (None, None, None, "none")


def test_a_reference_with_one_grade_has_no_kappa() -> None:
    # By the formula, kappa is 0 whether the second judge is right on one hit or on all but one.
    agreed = agreement([1] * 20, [1] * 19 + [0], clusters=range(20), draws=99)
    assert (agreed.kappa, agreed.plain, agreed.alpha, agreed.share) == (None, None, None, 0.95)
    assert agreed.interval == Interval(None, None, 0.95, "none")
    assert binary_agreement([1] * 20, [1] * 19 + [0], clusters=range(20), draws=99).kappa is None
    # A second judge with one grade has said nothing, which is a kappa of 0.
    assert agreement([1] * 19 + [0], [1] * 20, clusters=range(20), draws=99).kappa == 0.0


def test_undefined_resamples_are_skipped() -> None:
    # A third of the resamples lacks the last query, and then all grades are the same.
    same = [1] * 30 + [0]
    assert agreement(same, same, clusters=range(31), draws=199).interval.method == "constant"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([], [], "at least one grade"),
        ([1, 2], [1], "two lists of one length"),
        ([1.0], [np.nan], "not finite"),
    ],
)
def test_grades_that_cannot_be_compared(
    first: list[float], second: list[float], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        weighted_kappa(first, second)


def test_unknown_weights() -> None:
    with pytest.raises(InputError, match="unknown weights 'cubic'; expected one of none, linear"):
        weighted_kappa([1], [0], weights="cubic")


def test_alpha_of_a_published_example() -> None:
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section A: nominal binary
    # data of two observers, where squared distances are those of nominal data: alpha 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]

    assert krippendorff_alpha(first, second) == pytest.approx(0.095, abs=5e-4)
    assert krippendorff_alpha([2, 2], [2, 2]) is None


def test_confusion_table_has_rows_of_the_first_judge() -> None:
    table = confusion_table(
        [0, 0, 0, 0, 2, 2], [0, 0, 0, 1, 2, 0], clusters=range(6), grades=range(4), draws=99
    )

    assert list(table.grades) == [0, 1, 2, 3]
    assert list(table.counts) == [(3, 1, 0, 0), (0, 0, 0, 0), (1, 0, 1, 0), (0, 0, 0, 0)]
    assert list(table.shares[0]) == [0.75, 0.25, 0.0, 0.0]
    assert list(table.shares[1]) == [None] * 4
    # Without dependent labels this is the exact binomial interval.
    exact = stats.binomtest(3, 4).proportion_ci(method="exact")
    assert table.intervals[0][0].method == "clopper-pearson"
    assert table.intervals[0][0].low == pytest.approx(exact.low)
    assert table.intervals[1][0] == Interval(None, None, 0.95, "none")


def test_confusion_intervals_resample_queries() -> None:
    rng = np.random.default_rng(0)
    second = np.repeat(rng.integers(0, 2, 50), 4)
    table = confusion_table([1] * 200, second, clusters=np.repeat(np.arange(50), 4), draws=499)

    assert table.intervals[1][0].method.startswith("cluster ")


def test_binary_agreement_by_hand() -> None:
    people, model = [0, 0, 1, 2, 3, 3], [0, 1, 1, 3, 0, 2]
    agreed = binary_agreement(people, model, clusters=range(6), draws=99)

    # Relevant: people 4, the model 4, both 3; neither 1.
    assert (agreed.share, agreed.precision, agreed.recall) == (4 / 6, 3 / 4, 3 / 4)
    assert agreed.kappa == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))
    strict = binary_agreement(people, model, clusters=range(6), relevant=2, draws=99)
    assert (strict.level, strict.share, strict.recall) == (2, 5 / 6, 2 / 3)
    nothing = binary_agreement([0, 0], [0, 0], clusters=range(2), draws=99)
    assert (nothing.kappa, nothing.precision, nothing.recall) == (None, None, None)


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


def test_units_that_a_precision_needs() -> None:
    interval = Interval(0.3, 0.5, 0.95, "bca")

    assert further_units(interval, 118, half_width=0.05) == 354
    assert further_units(interval, 118, half_width=0.2) == 0
    assert further_units(Interval(None, None, 0.95, "none"), 3, half_width=0.1) is None
    assert further_units(Interval(0.9, 1.0, 0.95, "constant"), 3, half_width=0.1) is None
    with pytest.raises(InputError, match="half-width 0 is not above 0"):
        further_units(interval, 3, half_width=0)


def test_the_estimate_of_units_holds() -> None:
    rng = np.random.default_rng(11)

    def half_width(queries: int) -> tuple[Interval, float]:
        first, random = rng.integers(0, 4, (2, queries, 5))
        second = np.where(rng.random((queries, 5)) < 0.6, first, random)
        query = np.repeat(np.arange(queries), 5)
        interval = agreement(first.ravel(), second.ravel(), clusters=query, draws=499).interval
        assert interval.low is not None
        assert interval.high is not None
        return interval, (interval.high - interval.low) / 2

    now, _ = half_width(60)
    further = further_units(now, 60, half_width=0.05)
    assert further is not None
    _, reached = half_width(60 + further)
    assert reached == pytest.approx(0.05, rel=0.25)
