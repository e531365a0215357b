from dataclasses import FrozenInstanceError, replace

import pytest

from karat.errors import UnknownName
from karat.model.comparison import Comparison, Difference, Interval, Mean

INTERVAL = Interval(0.01, 0.07, 0.95, "bootstrap-t")
DIFFERENCE = Difference(
    baseline="A",
    system="B",
    metric="ndcg@10",
    n=127,
    missing=0,
    baseline_mean=0.5,
    system_mean=0.541,
    difference=0.041,
    relative=0.082,
    interval=INTERVAL,
    p=0.004,
    p_method="monte carlo",
    p_corrected=0.012,
    p_student=0.005,
    effect=0.26,
    effect_residual=0.3,
    wins=60,
    ties=30,
    losses=37,
    detectable=0.075,
)
MEAN = Mean("A", "ndcg@10", 0.5, INTERVAL, 127, 0)
COMPARISON = Comparison(
    systems=("A", "B"),
    baseline="A",
    metrics=("ndcg@10",),
    queries=127,
    means=(MEAN,),
    differences=(DIFFERENCE,),
    correction="maxt",
    family=3,
    level=0.95,
    power=0.8,
    draws=9_999,
    seed=0,
)


def test_entries_are_found_by_their_names() -> None:
    assert COMPARISON.mean("A", "ndcg@10") is MEAN
    assert COMPARISON.difference("A", "B", "ndcg@10") is DIFFERENCE


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownName, match="'mrr'"):
        COMPARISON.mean("A", "mrr")
    with pytest.raises(UnknownName, match="'A' from 'B'"):
        COMPARISON.difference("B", "A", "ndcg@10")


@pytest.mark.parametrize(
    ("p", "significant"), [(0.012, True), (0.05, True), (0.0501, False), (None, False)]
)
def test_significance_is_judged_by_the_corrected_p(p: float | None, significant: bool) -> None:
    assert COMPARISON.significant(replace(DIFFERENCE, p_corrected=p)) is significant


def test_the_winner_is_told_by_the_direction_of_the_metric() -> None:
    lost, draw = replace(DIFFERENCE, difference=-0.1), replace(DIFFERENCE, difference=0.0)
    unseen = replace(DIFFERENCE, difference=None)
    entries = (DIFFERENCE, lost, draw, unseen)
    assert [COMPARISON.winner(entry) for entry in entries] == ["B", "A", None, None]
    turned = replace(COMPARISON, lower_is_better=("ndcg@10",))
    assert [turned.winner(entry) for entry in entries] == ["A", "B", None, None]


def test_a_p_at_another_level_counts_too() -> None:
    for level, alpha in ((0.9, 0.1), (0.99, 0.01), (0.999, 0.001)):
        comparison = replace(COMPARISON, level=level)
        assert comparison.significant(replace(DIFFERENCE, p_corrected=alpha))
        assert not comparison.significant(replace(DIFFERENCE, p_corrected=alpha * 1.01))


def test_records_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        MEAN.mean = 0.6  # type: ignore[misc]
