import numpy as np

from karat.scoring.stats import compare, significance_letters
from karat.scoring.stats.paired import letter


def test_each_system_carries_the_letters_of_those_it_beats() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([0.2, 0.6, 0.2, 0.9])
    values = (levels[:, None] + rng.normal(0, 0.05, (4, 40)))[:, :, None]
    comparison = compare(values, systems=["w", "x", "y", "z"], metrics=["ndcg@10"], draws=999)
    rows = significance_letters(comparison, "ndcg@10")
    assert [(row.system, row.letter) for row in rows] == [
        ("w", "a"),
        ("x", "b"),
        ("y", "c"),
        ("z", "d"),
    ]
    assert [row.better_than for row in rows] == ["", "ac", "", "abc"]


def test_where_less_is_better_the_smaller_mean_has_the_letters() -> None:
    rng = np.random.default_rng(0)
    values = (np.array([120.0, 60.0])[:, None] + rng.normal(0, 5, (2, 40)))[:, :, None]
    comparisons = [
        compare(values, systems=["x", "y"], metrics=["lines@10"], draws=999, lower_is_better=lower)
        for lower in ((), ("lines@10",))
    ]
    marks = [
        [row.better_than for row in significance_letters(one, "lines@10")] for one in comparisons
    ]
    assert marks == [["b", ""], ["", "a"]]


def test_another_metric_and_no_difference_give_no_letters() -> None:
    values = np.random.default_rng(1).random((2, 30, 1))
    comparison = compare(values, systems=["x", "y"], metrics=["ndcg@10"], draws=999)
    assert [row.better_than for row in significance_letters(comparison, "ndcg@10")] == ["", ""]
    assert [row.better_than for row in significance_letters(comparison, "mrr")] == ["", ""]


def test_many_systems_need_commas() -> None:
    values = np.zeros((28, 12, 1))
    values[27] = 1.0
    names = [f"s{index}" for index in range(28)]
    comparison = compare(values, systems=names, metrics=["hit@5"], pairs="baseline", draws=99)
    last = significance_letters(comparison, "hit@5")[-1]
    assert (last.letter, last.better_than) == ("ab", "a")
    assert letter(26 * 27) == "aaa"
