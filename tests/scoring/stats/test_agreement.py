import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.agreement import (
    agreement,
    function_interval,
    krippendorff_alpha,
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
    # A second judge with one grade has said nothing, which is a kappa of 0.
    assert agreement([1] * 19 + [0], [1] * 20, clusters=range(20), draws=99).kappa == 0.0


def test_undefined_resamples_are_skipped() -> None:
    # A third of the resamples lacks the last query, and then all grades are the same.
    same = [1] * 30 + [0]
    assert agreement(same, same, clusters=range(31), draws=199).interval.method == "constant"


def test_a_function_that_most_resamples_lack_has_no_interval() -> None:
    # About 40 % of the resamples contain both of the first two units; without them it is 0 / 0.
    units = np.zeros((10, 2))
    units[0, 0] = units[1, 1] = 1.0

    def ratio(sums: np.ndarray) -> np.ndarray:
        return np.where(sums.all(axis=1), sums[:, 0] / np.maximum(sums[:, 1], 1), np.nan)

    interval = function_interval(units, ratio, bounds=(0, 10), level=0.95, draws=499, seed=0)
    assert interval == Interval(None, None, 0.95, "none")


def test_an_interval_is_corrected_for_its_bias_alone_where_nothing_is_skewed() -> None:
    # The largest column: 1, whichever unit is left out. Resamples have 1 (6 of 27), 2 (18) or 3
    # (3), so that half of 6 / 27 is below: z = -1.22, and the upper end is at 0.31.
    interval = function_interval(
        np.eye(3), lambda sums: sums.max(axis=1), bounds=(0, 3), level=0.95, draws=999, seed=0
    )
    assert interval == Interval(1.0, 2.0, 0.95, "bca")


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
