from dataclasses import FrozenInstanceError, replace

import pytest

from karat.errors import UnknownName
from karat.model.comparison import Comparison, Difference, Interval, Mean
from karat.scoring.stats.moments import sign_test

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
    ("p", "low", "high", "significant"),
    [
        (0.05, 0.01, 0.07, True),
        (0.05, -0.07, -0.01, True),
        (0.0501, 0.01, 0.07, False),
        (0.003, -0.051, 0.07, False),
        (0.003, 0.0, 0.07, False),  # an interval that ends at 0 does not exclude it
        (0.003, None, None, True),  # the same change of every query
        (0.06, None, None, False),
        (None, 0.01, 0.07, False),
    ],
)
def test_a_difference_is_significant_if_test_and_interval_agree(
    p: float | None, low: float | None, high: float | None, significant: bool
) -> None:
    entry = replace(
        DIFFERENCE, p=0.001, p_corrected=p, interval=Interval(low, high, 0.95, "bootstrap-t")
    )
    assert entry.is_significant is significant


@pytest.mark.parametrize(
    ("level", "fewest"), [(0.5, 2), (0.9, 5), (0.9375, 5), (0.95, 6), (0.99, 8), (0.999, 11)]
)
def test_the_fewest_changed_queries_follow_from_the_level(level: float, fewest: int) -> None:
    # The best case of the exact test: all *fewest* differences have one sign.
    entry = replace(DIFFERENCE, interval=replace(INTERVAL, level=level))
    assert entry.fewest_changed == fewest
    assert sign_test(fewest, 0) <= entry.alpha < sign_test(fewest - 1, 0)
    assert [replace(entry, changed=n).can_be_significant for n in (fewest - 1, fewest)] == [
        False,
        True,
    ]
    assert replace(entry, changed=None).can_be_significant


def test_the_winner_is_told_by_the_direction_of_the_metric() -> None:
    lost, draw = replace(DIFFERENCE, difference=-0.1), replace(DIFFERENCE, difference=0.0)
    unseen = replace(DIFFERENCE, difference=None)
    entries = (DIFFERENCE, lost, draw, unseen)
    assert [COMPARISON.winner(entry) for entry in entries] == ["B", "A", None, None]
    turned = replace(COMPARISON, lower_is_better=("ndcg@10",))
    assert [turned.winner(entry) for entry in entries] == ["A", "B", None, None]


@pytest.mark.parametrize(("level", "alpha"), [(0.9, 0.1), (0.99, 0.01), (0.999, 0.001)])
def test_the_level_of_the_interval_decides(level: float, alpha: float) -> None:
    entry = replace(DIFFERENCE, interval=replace(INTERVAL, level=level), p_corrected=alpha)
    assert entry.is_significant
    assert not replace(entry, p_corrected=alpha * 1.01).is_significant


def test_records_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        MEAN.mean = 0.6  # type: ignore[misc]


def test_the_reverse_of_a_difference_has_the_same_test() -> None:
    entry = replace(DIFFERENCE, interval=Interval(0.012, 0.07, 0.95, "bootstrap-t"), changed=97)
    back = entry.reversed()
    assert (back.baseline, back.system) == ("B", "A")
    assert (back.baseline_mean, back.system_mean, back.difference) == (0.541, 0.5, -0.041)
    assert (back.interval.low, back.interval.high) == (-0.07, -0.012)
    assert back.relative == pytest.approx(-0.041 / 0.541)
    assert (back.effect, back.effect_residual, back.wins, back.losses) == (-0.26, -0.3, 37, 60)
    assert (back.p, back.p_corrected, back.ties, back.changed) == (0.004, 0.012, 30, 97)
    again = back.reversed()
    assert again.relative == pytest.approx(0.082)
    assert replace(again, relative=0.082) == entry
    assert back.is_significant
    unseen = replace(entry, difference=None, system_mean=None, effect=None).reversed()
    assert (unseen.difference, unseen.relative, unseen.effect) == (None, None, None)
    # 0 has no sign.
    assert str(replace(entry, difference=0.0).reversed().difference) == "0.0"


def three(*means: float | None, lower: tuple[str, ...] = ()) -> Comparison:
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    return replace(
        COMPARISON,
        systems=("A", "B", "C"),
        means=tuple(
            replace(MEAN, system=name, mean=mean) for name, mean in zip("ABC", means, strict=True)
        ),
        differences=tuple(
            replace(DIFFERENCE, baseline=one, system=other, difference=0.1 * number)
            for number, (one, other) in enumerate(pairs, 1)
        ),
        lower_is_better=lower,
    )


def test_leaders_share_the_best_mean() -> None:
    assert three(0.5, 0.7, 0.6).leaders("ndcg@10") == ("B",)
    assert three(0.1 + 0.2, 0.3, None).leaders("ndcg@10") == ("A", "B")
    assert three(0.5, 0.7, 0.5, lower=("ndcg@10",)).leaders("ndcg@10") == ("A", "C")
    assert three(None, None, None).leaders("ndcg@10") == ()


def test_the_pairs_of_a_baseline_keep_their_tests() -> None:
    comparison = three(0.5, 0.7, 0.6).against("B", "ndcg@10")
    assert comparison is not None
    assert (comparison.systems, comparison.baseline, comparison.pairs) == (
        ("B", "A", "C"),
        "B",
        "baseline",
    )
    assert [(e.baseline, e.system, e.difference) for e in comparison.differences] == [
        ("B", "A", -0.1),
        ("B", "C", pytest.approx(0.3)),
    ]
    assert [mean.mean for mean in comparison.means] == [0.7, 0.5, 0.6]
    assert comparison.family == 3
    assert comparison.difference("B", "A", "ndcg@10").p_corrected == DIFFERENCE.p_corrected


def test_pairs_that_were_not_tested_are_not_there() -> None:
    tested = three(0.5, 0.7, 0.6)
    assert tested.against("B", "mrr") is None
    first = replace(tested, differences=tested.differences[:2])
    assert first.against("B", "ndcg@10") is None
    assert first.against("A", "ndcg@10") is not None
