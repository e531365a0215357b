import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.model.comparison import Comparison
from karat.scoring.stats import (
    benjamini_hochberg,
    bootstrap_intervals,
    compare,
    holm,
    randomised_tukey,
    sign_flip,
)
from karat.scoring.stats.paired import CORRECTIONS
from karat.scoring.stats.power import Threshold, reach, smallest_share

SCORES = np.clip(np.random.default_rng(0).normal(0.5, 0.3, (3, 60, 2)), 0, 1)
SCORES[2] = np.clip(SCORES[2] + 0.15, 0, 1)


def run(values: Any = SCORES, **options: Any) -> Comparison:
    names = [f"s{index}" for index in range(len(values))]
    defaults: dict[str, Any] = {"bounds": (0, 1), "draws": 999, "metrics": ["ndcg@10", "mrr@10"]}
    return compare(values, systems=names, **(defaults | options))


def test_every_mean_and_pair_is_there_in_order() -> None:
    comparison = run()
    assert [(entry.system, entry.metric) for entry in comparison.means] == [
        (system, metric) for system in ("s0", "s1", "s2") for metric in ("ndcg@10", "mrr@10")
    ]
    pairs = [(entry.baseline, entry.system) for entry in comparison.differences[::2]]
    assert pairs == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert (comparison.queries, comparison.family, comparison.correction, comparison.level) == (
        60,
        3,
        "maxt",
        0.95,
    )


@pytest.mark.parametrize("pairs", ["all", "lead", "baseline"])
def test_the_baseline_is_the_first_system_with_a_score_on_the_first_metric(pairs: str) -> None:
    values = SCORES.copy()
    values[0, :, 0] = math.nan
    comparison = run(values, pairs=pairs)
    assert comparison.baseline == "s1"
    assert comparison.difference("s1", "s0", "ndcg@10").difference is None
    for system in ("s0", "s2"):
        gap = SCORES[int(system[1]), :, 1] - SCORES[1, :, 1]
        assert comparison.difference("s1", system, "mrr@10").difference == pytest.approx(gap.mean())
    values[:, :, 0] = math.nan
    assert run(values, pairs=pairs).baseline == "s0"


def test_another_baseline_can_be_chosen() -> None:
    comparison = run(baseline="s2", pairs="baseline")
    assert [(entry.baseline, entry.system) for entry in comparison.differences[::2]] == [
        ("s2", "s0"),
        ("s2", "s1"),
    ]
    turned = run().difference("s0", "s2", "ndcg@10")
    back = comparison.difference("s2", "s0", "ndcg@10")
    assert (back.difference, back.p) == (-(turned.difference or 0.0), turned.p)


def test_entries_agree_with_the_functions_that_make_them() -> None:
    comparison = run()
    entry = comparison.difference("s0", "s2", "mrr@10")
    gap = SCORES[2, :, 1] - SCORES[0, :, 1]
    test = stats.ttest_rel(SCORES[2, :, 1], SCORES[0, :, 1])
    assert entry.difference == pytest.approx(gap.mean())
    assert entry.baseline_mean == pytest.approx(SCORES[0, :, 1].mean())
    assert entry.system_mean == pytest.approx(SCORES[2, :, 1].mean())
    assert entry.relative == pytest.approx(gap.mean() / SCORES[0, :, 1].mean())
    assert entry.interval == bootstrap_intervals(gap, bounds=(-1, 1), draws=999)[0]
    assert entry.p_student == pytest.approx(test.pvalue, abs=1e-10)
    assert entry.effect == pytest.approx(gap.mean() / gap.std(ddof=1))
    assert (entry.wins, entry.losses) == ((gap > 0).sum(), (gap < 0).sum())
    assert entry.wins + entry.ties + entry.losses == entry.n == 60
    (pair,) = run(SCORES[[0, 2]]).differences[1::2]
    alone = reach(59, level=0.95, power=0.82) * gap.std(ddof=1) / math.sqrt(60)
    assert pair.detectable == pytest.approx(alone)
    # One of three pairs must differ by more, but by less than Bonferroni's correction asks for.
    bonferroni = reach(59, level=1 - 0.05 / 3, power=0.82) * gap.std(ddof=1) / math.sqrt(60)
    assert entry.detectable is not None
    assert alone < entry.detectable < bonferroni * 1.02
    mean = comparison.mean("s1", "ndcg@10")
    assert mean.mean == pytest.approx(SCORES[1, :, 0].mean())
    assert mean.interval == bootstrap_intervals(SCORES[1, :, 0], bounds=(0, 1), draws=999)[0]


def test_a_set_too_small_for_any_difference_says_of_none_that_it_can_detect_it() -> None:
    rng = np.random.default_rng(3)
    # Of five queries the sign-flip test has no p value below 2 / 32, of six one of 2 / 64.
    for n, is_detectable in ((5, False), (6, True)):
        scores = rng.normal(0.5, 0.01, (2, n, 1))
        (entry,) = compare(scores, systems=["a", "b"], metrics=["mrr"]).differences
        assert (entry.detectable is not None) is is_detectable
    # A score of 0 to 1 cannot change by more than 1.
    wide = rng.choice([0.0, 0.3, 1.0], (2, 6, 1))
    options: dict[str, Any] = {"systems": ["a", "b"], "metrics": ["mrr"]}
    (free,) = compare(wide, **options).differences
    assert free.detectable is None or free.detectable > 1.0
    (bounded,) = compare(wide, bounds=(0, 1), **options).differences
    assert bounded.detectable is None


@pytest.mark.parametrize(("correction", "pairs"), [("holm", 3), ("bh", 3), ("none", 1)])
def test_the_detectable_difference_allows_for_the_correction(correction: str, pairs: int) -> None:
    for entry in run(correction=correction).differences:
        gap = SCORES[int(entry.system[1]), :, 0] - SCORES[int(entry.baseline[1]), :, 0]
        if entry.metric == "ndcg@10":
            se = gap.std(ddof=1) / math.sqrt(60)
            expected = reach(59, level=1 - 0.05 / pairs, power=0.82) * se
            assert entry.detectable == pytest.approx(expected)


def test_hits_detect_what_mcnemars_exact_test_detects() -> None:
    hits = np.zeros((2, 100, 1))
    hits[0, :6], hits[1, 4:14] = 1.0, 1.0
    (entry,) = compare(hits, systems=["a", "b"], metrics=["hit@5"], bounds=(0, 1)).differences
    # Four losses and eight wins on a hundred queries.
    assert entry.p_method == "exact binomial"
    steps = smallest_share(100, 12, Threshold(0.05), power=0.8)
    assert steps is not None
    assert entry.detectable == steps / 100
    copied = compare(
        np.repeat(hits, 3, axis=1),
        systems=["a", "b"],
        metrics=["hit@5"],
        bounds=(0, 1),
        clusters=np.repeat(np.arange(100), 3),
    )
    assert copied.differences[0].detectable == pytest.approx(entry.detectable)


def test_one_pair_needs_no_correction() -> None:
    for entry in run(SCORES[:2]).differences:
        assert entry.p == entry.p_corrected
        gap = SCORES[1] - SCORES[0]
    assert entry.p == sign_flip(gap, draws=999)[1].p


def test_against_a_baseline_holm_is_the_default() -> None:
    comparison = run(pairs="baseline")
    entries = [entry for entry in comparison.differences if entry.metric == "ndcg@10"]
    assert [entry.baseline for entry in entries] == ["s0", "s0"]
    assert (comparison.correction, comparison.family) == ("holm", 2)
    raw = [entry.p or 0.0 for entry in entries]
    assert [entry.p_corrected for entry in entries] == pytest.approx(holm(raw))


@pytest.mark.parametrize("pairs", ["all", "baseline"])
def test_a_system_without_scores_is_not_corrected_for(pairs: str) -> None:
    unscored = np.concatenate([SCORES[:2], np.full_like(SCORES[:1], np.nan)])
    comparison, alone = run(unscored, pairs=pairs), run(SCORES[:2])
    assert comparison.family == 1
    assert [
        (entry.p_corrected, entry.interval, entry.detectable)
        for entry in comparison.differences
        if entry.n
    ] == [(entry.p, entry.interval, entry.detectable) for entry in alone.differences]
    assert {entry.p_corrected for entry in comparison.differences if not entry.n} == {None}


def test_a_difference_that_the_interval_vetoes_is_not_called_detectable() -> None:
    # The same small gain of all fifteen queries: the bounds leave room for one large loss.
    values = np.stack([np.full((15, 1), 0.5), np.full((15, 1), 0.6)])
    (entry,) = run(values, metrics=["ndcg@10"]).differences
    assert (entry.is_vetoed, entry.is_significant, entry.detectable) == (True, False, None)
    # 0.2 of all seven queries are equal to the detectable difference but for rounding.
    lost = np.stack([np.full((7, 1), 0.2), np.zeros((7, 1))])
    (entry,) = run(lost, metrics=["precision@5"]).differences
    assert (entry.is_vetoed, entry.detectable) == (True, None)
    values[1, :5] = 0.5
    (entry,) = run(values, metrics=["ndcg@10"]).differences
    assert (entry.is_vetoed, entry.is_significant) == (False, True)
    assert entry.detectable == pytest.approx(0.06)


def test_of_many_systems_all_pairs_meet_on_the_first_metric_only() -> None:
    values = np.clip(np.random.default_rng(3).normal(0.5, 0.2, (13, 40, 2)), 0, 1)
    comparison, whole = run(values, draws=199), run(values, draws=199, pairs="all")
    first = [entry for entry in comparison.differences if entry.metric == "ndcg@10"]
    second = [entry for entry in comparison.differences if entry.metric == "mrr@10"]
    assert [(entry.baseline, entry.system) for entry in second] == [
        ("s0", f"s{index}") for index in range(1, 13)
    ]
    assert (comparison.pairs, comparison.correction, comparison.family) == ("lead", "maxt", 78)
    assert first == [entry for entry in whole.differences if entry.metric == "ndcg@10"]
    assert comparison.means == whole.means
    alone = compare(
        values[:, :, 1:],
        systems=comparison.systems,
        metrics=["mrr@10"],
        pairs="baseline",
        correction="maxt",
        bounds=(0, 1),
        draws=199,
    )
    assert second == list(alone.differences)
    assert run(values[:12], draws=199).pairs == "all"


def test_other_corrections_on_request() -> None:
    raw = [entry.p or 0.0 for entry in run().differences[::2]]

    def corrected(name: str) -> list[float | None]:
        return [entry.p_corrected for entry in run(correction=name).differences[::2]]

    assert corrected("none") == raw
    assert corrected("bh") == pytest.approx(benjamini_hochberg(raw))
    p = randomised_tukey(SCORES[:, :, 0].T, draws=999)
    expected = np.maximum(raw, [p[0, 1], p[0, 2], p[1, 2]]).tolist()
    assert corrected("tukey") == expected


def test_missing_scores_leave_the_mean_and_both_sides_of_a_pair() -> None:
    values = SCORES.copy()
    values[0, :3, 0] = math.nan
    values[1, 3:5, 0] = math.nan
    comparison = run(values)
    assert (comparison.mean("s0", "ndcg@10").n, comparison.mean("s0", "ndcg@10").missing) == (57, 3)
    entry = comparison.difference("s0", "s1", "ndcg@10")
    assert (entry.n, entry.missing) == (55, 5)
    assert entry.baseline_mean == pytest.approx(values[0, 5:, 0].mean())
    assert entry.difference == pytest.approx((values[1] - values[0])[5:, 0].mean())
    assert run(values).difference("s0", "s1", "mrr@10") == run().difference("s0", "s1", "mrr@10")


def test_runs_that_score_alike_say_nothing_of_what_could_be_detected() -> None:
    values = SCORES.copy()
    values[1] = values[0]
    entry = run(values).difference("s0", "s1", "ndcg@10")
    assert (entry.difference, entry.detectable) == (0.0, None)


def test_nothing_scored_is_none_and_never_zero() -> None:
    values = SCORES.copy()
    values[1, :, 0] = math.nan
    comparison = run(values)
    entry = comparison.difference("s0", "s1", "ndcg@10")
    assert comparison.mean("s1", "ndcg@10").mean is None
    assert entry.n == entry.wins == entry.ties == entry.losses == 0
    fields = (entry.difference, entry.baseline_mean, entry.relative, entry.p, entry.p_corrected)
    assert fields == (None,) * 5
    assert (entry.effect, entry.effect_residual, entry.detectable) == (None, None, None)
    assert entry.p_method == entry.interval.method == "none"


def test_from_zero_there_is_no_relative_improvement() -> None:
    values = np.stack([np.zeros((20, 1)), np.linspace(0, 1, 20)[:, None]])
    (entry,) = run(values, metrics=["hit@5"]).differences
    assert entry.relative is None


def test_identical_systems_are_no_different() -> None:
    (entry, _) = run(np.stack([SCORES[0], SCORES[0]])).differences
    assert (entry.difference, entry.p, entry.p_corrected, entry.ties) == (0.0, 1.0, 1.0, 60)
    assert (entry.effect, entry.effect_residual) == (None, None)
    assert (entry.interval.low, entry.interval.high) == (None, None)
    assert entry.interval.method == "identical"
    assert entry.p_student == 1.0


def test_one_system_has_means_only() -> None:
    comparison = run(SCORES[:1])
    assert len(comparison.means) == 2
    assert comparison.differences == ()
    assert comparison.family == 0


def test_no_queries_at_all() -> None:
    comparison = run(np.empty((2, 0, 2)))
    assert comparison.queries == 0
    assert {entry.mean for entry in comparison.means} == {None}
    assert {entry.p for entry in comparison.differences} == {None}


def test_where_less_is_better_wins_and_losses_change_sides_and_nothing_else() -> None:
    plain, turned = run(), run(lower_is_better=["mrr@10"])
    assert (plain.lower_is_better, turned.lower_is_better) == ((), ("mrr@10",))
    for before, after in zip(plain.differences, turned.differences, strict=True):
        turns = before.metric == "mrr@10"
        sides = (before.losses, before.wins) if turns else (before.wins, before.losses)
        assert before.wins != before.losses
        assert after == replace(before, wins=sides[0], losses=sides[1])


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_clusters_make_copies_worth_nothing(correction: str) -> None:
    codes = np.repeat(np.arange(60), 3)
    copied = run(np.repeat(SCORES, 3, axis=1), clusters=codes, correction=correction)
    once = run(correction=correction)
    for many, one in zip(copied.differences, once.differences, strict=True):
        assert many.n == 180
        assert many.p == one.p
        assert many.p_corrected == one.p_corrected
        assert many.detectable == pytest.approx(one.detectable)
        assert many.interval.low == pytest.approx(one.interval.low, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": SCORES[0]}, "expected 60 systems"),
        ({"values": np.full((2, 5, 2), math.inf)}, "infinite"),
        ({"metrics": ["ndcg@10", "ndcg@10"]}, "metric 'ndcg@10' is given twice"),
        ({"baseline": "s3"}, "baseline 's3' is unknown; expected one of s0, s1, s2"),
        ({"pairs": "some"}, "expected one of all, lead, baseline"),
        ({"correction": "bonferroni"}, "'bonferroni' cannot be used with"),
        ({"correction": "tukey", "pairs": "baseline"}, "all pairs only"),
        ({"level": 95}, "level 95"),
        ({"power": 2}, "power 2"),
        ({"lower_is_better": ["lines@10"]}, "lower is better on 'lines@10', which is not compared"),
        ({"draws": 10}, "draws is 10"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(**options)


def test_no_metric_is_refused() -> None:
    with pytest.raises(InputError, match="no metric"):
        compare(np.empty((1, 3, 0)), systems=["A"], metrics=[])


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(2, 30))
def test_laws_that_hold_for_any_scores(seed: int, systems: int, queries: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 0.5, 1 / 3, 1.0, math.nan], size=(systems, queries, 2))
    for entry in run(values, draws=199).differences:
        if entry.p is None or entry.p_corrected is None or entry.difference is None:
            assert entry.n == 0
            continue
        assert 0.0 < entry.p <= entry.p_corrected <= 1.0
        assert entry.wins + entry.ties + entry.losses == entry.n
        assert entry.n + entry.missing == queries
        if entry.interval.low is not None and entry.interval.high is not None:
            assert entry.interval.low - 1e-9 <= entry.difference <= entry.interval.high + 1e-9
