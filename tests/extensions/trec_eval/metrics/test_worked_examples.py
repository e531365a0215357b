"""trec_eval's measures on cases worked by hand, and where they meet Karat's own."""

from math import log, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics import METRICS, average, parse

# Grades 2 and 1 at ranks 2 and 4 of five hits; a third target of grade 1 is not found.
QUERY = JudgedQuery([1, 2, 4], [0, 2, 1], ideal=[2, 1, 1, 0], retrieved=5)
GRADES = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=12)


def score(name: str, judged: JudgedQuery = QUERY) -> float:
    return parse(name).bind()(judged)


def dcg(*grades: float) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gm_map", (1 / 2 + 2 / 4) / 3),
        ("yaap", log((1 + 1) / (1 + 3 - 1))),
        ("iprec_at_recall", 1 / 2),
        ("iprec_at_recall(recall=0.5)", 1 / 2),
        ("iprec_at_recall(recall=0.4)", 1 / 2),
        ("iprec_at_recall(recall=0.9)", 0.0),
        ("iprec_at_recall(recall=-9)", 1 / 2),
        ("iprec_at_recall(recall=0.8,version=9)", 0.0),
        ("11pt_avg(points=0/0.5/1)", (1 / 2 + 1 / 2 + 0) / 3),
        ("Rprec_mult(times=2)", 2 / 6),
        ("Rprec_mult(times=0)", 0.0),
        ("relative_P@2", 1 / 2),
        ("relative_P@5", 2 / 3),
        ("set_relative_P", 2 / 3),
        ("set_map", 4 / 15),
        ("set_F", 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("set_F(weight=4)", 5 * (2 / 5) * (2 / 3) / (4 * 2 / 5 + 2 / 3)),
        ("utility", 2 - 3),
        ("utility(found=2,wrong=-1,missed=-3,spared=0.5,collection=10)", 4 - 3 - 3 + 0.5 * 4),
        ("num_q", 1),
        ("num_ret", 5),
        ("num_rel", 3),
        ("num_rel_ret", 2),
        ("num_nonrel_judged_ret", 1),
        ("num_nonrel_judged_ret(level=2)", 2),
        ("binG", (1 / log2(3) + 1 / log2(4)) / 3),
        # Cost 2, 3, 4, 5 by rank; gained 2 at rank 2 and 3 at rank 4.
        ("G", (2 / log2(3) + 1 / log2(4)) / 4),
        ("ideal_dcg", dcg(2, 1, 1)),
        (
            "ndcg_rel",
            (
                dcg(0, 2) / dcg(2, 1)
                + dcg(0, 2, 0, 1) / dcg(2, 1, 1)
                + dcg(0, 2, 0, 1) / dcg(2, 1, 1)
            )
            / 3,
        ),
        (
            "Rndcg",
            (0 + dcg(0, 2, 0) / dcg(2, 1, 1) + dcg(0, 2, 0, 1) / dcg(2, 1, 1)) / 3,
        ),
        ("Rndcg(level=3)", 0.0),
        ("rbp-graded", 0.1 * (0.9 + 0.5 * 0.9**3)),
        ("rbp-graded(p=0.5,gain=1:0/2:1)", 0.5 * 0.5),
        ("rbp-graded(p=0.5,gain=5:4)", 0.5 * (2 / 4 * 0.5 + 1 / 4 * 0.125)),
        ("rbp_resid(p=0.5)", 0.5**5 + 0.5 * (0.5**2 + 0.5**4)),
        ("unj@4", 1 / 4),
        ("unj@10", 2 / 10),
    ],
)
def test_worked_by_hand(name: str, value: float) -> None:
    assert score(name) == pytest.approx(value, abs=1e-12)


def test_inferred_ap_counts_the_pool() -> None:
    # Rank 1 relevant; rank 2 outside the pool; rank 3 pooled only; rank 4 relevant, after one
    # relevant of one judged hit: (1 + 2 * 1.00001 / 1.00002) / 4.
    query = JudgedQuery([1, 3, 4], [1, -1, 1], ideal=[1, 1, -1], retrieved=4)
    expected = (1 + (1 + 2 * 1.00001 / 1.00002) / 4) / 2
    assert score("infAP", query) == pytest.approx(expected, abs=1e-12)


def test_inferred_ap_below_the_level_is_not_relevant() -> None:
    query = JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2)
    expected = (1 + 0.00001 / 1.00002) / 2
    assert score("infAP(level=2)", query) == pytest.approx(expected, abs=1e-12)


def test_versions_round_a_recall_point_differently() -> None:
    query = JudgedQuery([1, 4], [1, 1], ideal=[1, 1, 1, 1], retrieved=4)
    # 0.3 of 4 targets is 1.2: the nearest is 1, from a tenth on it is 2.
    assert score("iprec(recall=0.3)", query) == 1
    assert score("iprec(recall=0.3,version=9)", query) == 0.5
    assert score("11pt-avg(points=0.3,version=9)", query) == 0.5


def test_a_residual_is_zero_only_where_all_is_judged() -> None:
    whole = JudgedQuery([1, 2], [1, 0], ideal=[1, 0], retrieved=2)
    pooled = JudgedQuery([1, 2], [1, -1], ideal=[1, -1], retrieved=2)
    assert score("rbp_resid", whole) == 0
    assert score("rbp_resid(p=0.5)", pooled) == pytest.approx(0.25 + 0.25)
    assert score("unj@2", pooled) == 0.5


@given(GRADES)
def test_with_one_level_the_graded_measures_are_the_binary_ones(grades: list[int]) -> None:
    binary = [min(grade, 1) for grade in grades]
    query = JudgedQuery(
        range(1, len(binary) + 1), binary, ideal=sorted(binary, reverse=True), retrieved=len(binary)
    )
    assert score("G", query) == pytest.approx(score("binG", query), abs=1e-12)
    assert score("rbp-graded", query) == pytest.approx(score("rbp(p=0.9)", query), abs=1e-12)


@given(GRADES, st.integers(0, 5))
def test_shares_of_a_set_and_counts_agree(grades: list[int], further: int) -> None:
    query = JudgedQuery(
        range(1, len(grades) + 1),
        grades,
        ideal=sorted([*grades, 1], reverse=True),
        retrieved=len(grades) + further,
    )
    hits, total = score("num_rel_ret", query), score("num_rel", query)
    assert score("set_map", query) == pytest.approx(
        score("set_P", query) * score("set_recall", query), abs=1e-12
    )
    assert score("utility", query) == 2 * hits - score("num_ret", query)
    assert score("relative_P@50", query) == hits / total
    assert score("Rprec_mult", query) == score("Rprec", query)


def test_a_geometric_mean_punishes_a_failure() -> None:
    kind = METRICS.get("gm-ap").average
    assert average([1.0, 0.0], kind) == pytest.approx(0.00001**0.5)


@pytest.mark.parametrize("points", ["a/b", "0.2/nan", "inf"])
def test_points_that_are_no_numbers(points: str) -> None:
    with pytest.raises(InputError, match=r"expected a value such as 0\.2/0\.5/0\.8"):
        score(f"11pt_avg(points={points})")


@pytest.mark.parametrize("name", ["relative_P@2", "Rprec_mult", "rbp-graded", "unj@2"])
def test_expected_values_are_means_over_the_orders_of_a_tie(name: str) -> None:
    first = JudgedQuery([1], [1], ideal=[1], retrieved=3)
    last = JudgedQuery([3], [1], ideal=[1], retrieved=3)
    middle = JudgedQuery([2], [1], ideal=[1], retrieved=3)
    tied = JudgedQuery([1], [1], ideal=[1], retrieved=3, spans=[(1, 3)])
    mean = (score(name, first) + score(name, middle) + score(name, last)) / 3
    assert score(name, tied) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("p", ["-0.1", "1.1", "2"])
@pytest.mark.parametrize("metric", ["rbp-graded", "rbp-residual"])
def test_a_chance_is_from_0_to_1(metric: str, p: str) -> None:
    with pytest.raises(InputError, match=r"rbp's p is .*; expected a probability from 0 to 1"):
        score(f"{metric}(p={p})")


def test_the_weight_of_recall_is_not_negative() -> None:
    with pytest.raises(InputError, match="expected 0 or more"):
        score("set-f(weight=-0.5)")


def test_a_grade_too_high_for_an_exponential_gain() -> None:
    high = JudgedQuery([1, 2], [5000, 4999], ideal=[5000, 4999, 1], retrieved=2)
    with pytest.raises(InputError, match="grade 5000 is too high for gain=exp"):
        score("g(gain=exp)", high)
