import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from karat.model.comparison import Comparison, Difference, Interval, Mean
from karat.model.evaluation import ComparisonResult
from karat.scoring.stats import compare, verdict
from karat.scoring.stats.verdict import gate_verdict

NOISE: dict[str, Any] = {
    "p_corrected": 0.4,
    "p": 0.3,
    "difference": 0.01,
    "interval": Interval(-0.05, 0.07, 0.95, "bootstrap-t"),
}
NUMBERS = "+0.041 [0.012, 0.070], p = 0.004"


# What follows the detectable difference where a smaller one was significant.
REACH = "127 queries can reliably detect differences of about 0.075 or more"


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "bootstrap-t")


def entry(baseline: str = "A", system: str = "B", metric: str = "ndcg@10", **changes: Any) -> Any:
    start = Difference(
        baseline=baseline,
        system=system,
        metric=metric,
        n=127,
        missing=0,
        baseline_mean=0.5,
        system_mean=0.541,
        difference=0.041,
        relative=0.082,
        interval=interval(0.012, 0.070),
        p=0.002,
        p_method="monte carlo",
        p_corrected=0.004,
        p_student=0.003,
        effect=0.26,
        effect_residual=0.3,
        wins=60,
        ties=30,
        losses=37,
        detectable=0.075,
    )
    return replace(start, **changes)


def said(
    *entries: Difference,
    family: int = 1,
    correction: str = "maxt",
    lower: tuple[str, ...] = (),
    pairs: str = "all",
    words: Callable[[Comparison], str] = verdict,
    **means: float,
) -> str:
    systems = tuple(dict.fromkeys(name for one in entries for name in (one.baseline, one.system)))
    metrics = tuple(dict.fromkeys(one.metric for one in entries))
    return words(
        Comparison(
            systems=systems,
            baseline=systems[0],
            metrics=metrics,
            queries=127,
            means=tuple(
                Mean(name, metrics[0], mean, interval(0, 1), 127, 0) for name, mean in means.items()
            ),
            differences=entries,
            correction=correction,
            family=family,
            level=0.95,
            power=0.8,
            draws=9_999,
            seed=0,
            lower_is_better=lower,
            pairs=pairs,
        )
    )


def test_one_significant_difference_and_one_that_is_not() -> None:
    assert said(entry(), entry(metric="mrr@10", **NOISE)) == (
        f"B is better than A: ndcg@10 {NUMBERS}. No significant difference between B and A on "
        f"mrr@10 (+0.010 [-0.050, 0.070], p = 0.400). {REACH} on mrr@10."
    )


def test_only_the_first_significant_difference_has_numbers() -> None:
    text = said(
        entry(),
        entry(metric="mrr@10"),
        entry(metric="hit@5"),
        entry(metric="ap"),
        entry(metric="p@5", **NOISE),
    )
    assert text == (
        f"B is better than A: ndcg@10 {NUMBERS}. It is also better on mrr@10, hit@5 and ap. No "
        "significant difference between B and A on p@5 (+0.010 [-0.050, 0.070], p = 0.400). "
        f"{REACH} on p@5."
    )


def test_the_first_metric_comes_first() -> None:
    text = said(entry(**NOISE), entry(metric="mrr@10"), entry(metric="ap"))
    assert text == (
        "No significant difference between B and A on ndcg@10 (+0.010 [-0.050, 0.070], p = 0.400). "
        f"B is better than A: mrr@10 {NUMBERS}. It is also better on ap. {REACH} on ndcg@10."
    )


def test_every_number_is_the_better_system_minus_the_other_one() -> None:
    lost = entry(difference=-0.2, interval=interval(-0.3, -0.1))
    noise = entry(metric="mrr@10", **NOISE | {"interval": interval(-0.02, 0.04)})
    assert said(lost, noise).startswith(
        "A is better than B: ndcg@10 +0.200 [0.100, 0.300], p = 0.004. "
        "No significant difference between A and B on mrr@10 (-0.010 [-0.040, 0.020], p = 0.400)."
    )
    alone = entry(**NOISE | {"difference": -0.01, "interval": interval(-0.04, 0.02)})
    assert said(alone).startswith(
        "No significant difference between A and B on ndcg@10 (+0.010 [-0.020, 0.040], p = 0.400)."
    )


def test_each_winner_has_a_sentence() -> None:
    lost: dict[str, Any] = {"difference": -0.2, "interval": interval(-0.3, -0.1)}
    text = said(
        entry(), entry(metric="hit@5", **lost), entry(metric="ap"), entry(metric="p@5", **lost)
    )
    assert text == (
        f"B is better than A: ndcg@10 {NUMBERS}. It is also better on ap. "
        "A is better than B: hit@5 +0.200 [0.100, 0.300], p = 0.004. It is also better on p@5."
    )


def test_where_less_is_better_the_smaller_mean_wins() -> None:
    fewer: dict[str, Any] = {"difference": -40.0, "interval": interval(-60.0, -20.0)}
    lower = ("lines@10", "tokens@10")
    assert said(entry(metric="lines@10", **fewer), lower=lower) == (
        "B is better than A: lines@10 -40.000 [-60.000, -20.000] (lower is better), p = 0.004."
    )
    lines, tokens = entry(metric="lines@10", **fewer), entry(metric="tokens@10", **fewer)
    assert said(entry(), lines, entry(metric="ap"), tokens, lower=lower) == (
        f"B is better than A: ndcg@10 {NUMBERS}. It is also better on ap, and on "
        "lines@10 and tokens@10 (lower is better)."
    )
    more = replace(lines, difference=40.0, interval=interval(20.0, 60.0))
    assert said(entry(), more, lower=lower).endswith(
        ". A is better than B: lines@10 -40.000 [-60.000, -20.000] (lower is better), p = 0.004."
    )


def test_counts_and_scores_do_not_share_a_detectable_difference() -> None:
    lines = entry(metric="lines@10", **NOISE | {"detectable": 31.25})
    tokens = entry(metric="tokens@10", **NOISE | {"detectable": 310.0})
    lower = ("lines@10", "tokens@10")
    assert said(lines, lower=lower).endswith("of about 31 or more.")
    assert said(lines, tokens, lower=lower).endswith(
        "of about 31 or more on lines@10 and 310 or more on tokens@10."
    )
    assert said(lines, entry(**NOISE), lower=lower).endswith(
        "No significant difference between A and B on lines@10 (-0.010 [-0.070, 0.050], p = 0.400) "
        f"and ndcg@10. {REACH} (lines@10: 31 or more)."
    )
    few = entry(metric="lines@10", **NOISE | {"detectable": 3.14})
    assert said(few, lower=lower).endswith("of about 3.1 or more.")


def test_the_lowest_mean_is_best_where_less_is_better() -> None:
    fewer: dict[str, Any] = {
        "difference": -40.0,
        "interval": interval(-60.0, -20.0),
        "metric": "lines@10",
    }
    noise = NOISE | {"metric": "lines@10", "detectable": 31.25}
    text = said(
        entry("A", "B", **fewer),
        entry("A", "C", **noise),
        entry("B", "C", **noise),
        family=3,
        lower=("lines@10",),
        A=120.0,
        B=80.0,
        C=110.0,
    )
    assert text == (
        "B has the lowest lines@10, 80.000 (lower is better), and is better than A (-40.000 "
        "[-60.000, -20.000], p = 0.004 corrected for 3 comparisons). No significant difference "
        "between B and C (-0.010 [-0.070, 0.050], p = 0.400). 127 queries can "
        "reliably detect differences of about 31 or more between B and C."
    )
    against = said(
        entry("A", "B", **fewer),
        entry("A", "C", **noise),
        family=2,
        correction="holm",
        pairs="baseline",
        lower=("lines@10",),
    )
    assert against.startswith(
        "B is better than A on lines@10 (lower is better): -40.000 [-60.000, -20.000], p = 0.004"
    )


def test_the_winner_is_the_subject() -> None:
    lost = entry(difference=-0.041, interval=interval(-0.070, -0.012), p_corrected=0.0001)
    assert said(lost) == "A is better than B: ndcg@10 +0.041 [0.012, 0.070], p < 0.001."


def test_metrics_without_a_significant_difference_share_a_sentence() -> None:
    assert said(entry(**NOISE), entry(metric="mrr@10", **NOISE), entry(metric="ap", **NOISE)) == (
        "No significant difference between B and A on ndcg@10 (+0.010 [-0.050, 0.070], p = 0.400), "
        f"mrr@10 and ap. {REACH}."
    )


def test_missing_numbers_are_left_out() -> None:
    none = Interval(None, None, 0.95, "none")
    assert said(entry(interval=none)) == "B is better than A: ndcg@10 +0.041, p = 0.004."
    flat = entry(**NOISE | {"difference": 0.0, "detectable": None})
    assert said(flat) == (
        "No significant difference between B and A on ndcg@10 (0.000 [-0.050, 0.070], p = 0.400)."
    )
    same = replace(flat, wins=0, ties=127, losses=0)
    assert said(same) == "A and B have the same ndcg@10 on every query."
    one = entry(**NOISE, n=1)
    assert said(one).endswith("1 query can reliably detect differences of about 0.075 or more.")


def test_no_common_query_is_reported() -> None:
    unseen = entry(p=None, p_corrected=None, difference=None, n=0, detectable=None)
    assert said(unseen) == "No query has scores of both A and B on ndcg@10."


def test_each_system_against_the_baseline() -> None:
    text = said(
        entry(),
        entry(system="C", difference=0.1, interval=interval(0.05, 0.15), p_corrected=0.001),
        entry(system="D", difference=-0.2, interval=interval(-0.3, -0.1), p_corrected=0.001),
        entry(system="E", **NOISE),
        family=4,
        correction="holm",
        pairs="baseline",
    )
    assert text == (
        f"B ({NUMBERS} corrected for 4 comparisons) and C (+0.100 [0.050, 0.150], p = 0.001) are "
        "better than A on ndcg@10. "
        "D is worse than A on ndcg@10: -0.200 [-0.300, -0.100], p = 0.001. "
        "No significant difference between E and A (+0.010 [-0.050, 0.070], p = 0.400). "
        f"{REACH} between A and E."
    )


def test_the_best_of_all_pairs() -> None:
    text = said(
        entry("A", "B"),
        entry("A", "C", **NOISE),
        entry("B", "C", **NOISE | {"difference": -0.03}),
        family=3,
        A=0.5,
        B=0.541,
        C=0.511,
    )
    assert text == (
        f"B has the highest ndcg@10, 0.541, and is better than A ({NUMBERS} corrected for 3 "
        "comparisons). No significant difference between B and C (+0.030 [-0.070, 0.050], p = "
        "0.400). "
        f"{REACH} between B and C."
    )


def test_of_all_pairs_without_a_winner() -> None:
    pairs = [entry("A", "B", **NOISE), entry("A", "C", **NOISE), entry("B", "C", **NOISE)]
    text = said(*pairs, family=3, A=0.5, B=0.5, C=0.4)
    assert text.startswith(
        "A and B have the highest ndcg@10, 0.500. A does not differ significantly from B and C "
        "(smallest p = 0.400 corrected for 3 comparisons). "
    )
    assert said(*pairs, family=3) == "No query has a score on ndcg@10."


def test_a_clear_winner_needs_one_sentence() -> None:
    pairs = [entry("A", "B"), entry("A", "C"), entry("B", "C")]
    text = said(*pairs, family=3, A=0.5, B=0.54, C=0.58)
    assert "No significant" not in text
    assert text.count("p = 0.004") == 2
    assert text.count("corrected for 3 comparisons") == 1


def test_uncorrected_p_values_are_marked() -> None:
    pairs = [entry("A", "B"), entry("A", "C")]
    text = said(*pairs, family=2, correction="none", pairs="baseline")
    assert "not corrected for 2 comparisons" in text


def test_of_many_systems_only_the_farthest_and_the_first_are_named() -> None:
    better = [entry(system=f"W{n}", difference=0.1 + n / 100) for n in range(6)]
    text = said(
        *better,
        *(entry(system=f"N{n}", **NOISE) for n in range(7)),
        family=13,
        correction="holm",
        pairs="baseline",
    )
    assert text.startswith("6 systems are better than A on ndcg@10, most of all W5: +0.150 [")
    assert (
        "A does not differ significantly from N0, N1, N2, N3 and 3 others (smallest p = 0.400). "
        in text
    )


def test_one_system_gets_no_verdict() -> None:
    comparison = compare(np.ones((1, 5, 1)), systems=["A"], metrics=["hit@5"], draws=99)
    assert verdict(comparison) == ""


@pytest.mark.parametrize("seed", range(5))
def test_real_comparisons_make_one_paragraph(seed: int) -> None:
    values = np.random.default_rng(seed).random((3, 30, 2))
    text = verdict(compare(values, systems=["A", "B", "C"], metrics=["ap", "rr"], draws=199))
    assert text.endswith(".")
    assert "\n" not in text
    # The names of the systems are capital letters, so each sentence begins with one, or a number.
    assert all(part[0].isupper() or part[0].isdigit() for part in text.split(". "))
    assert ";" not in text


def test_of_many_beaten_systems_only_the_nearest_has_its_numbers() -> None:
    names = ("B", "C", "D", "E", "F", "G")
    entries = [
        entry("A", name, difference=-0.1 - index / 100, interval=interval(-0.3, -0.01))
        for index, name in enumerate(names)
    ]
    means: dict[str, Any] = dict.fromkeys(names, 0.4)
    assert said(*entries, entry("B", "C"), family=21, A=0.6, **means) == (
        "A has the highest ndcg@10, 0.600, and is better than 6 others. The smallest difference "
        "is to B: +0.100 [0.010, 0.300], p = 0.004 corrected for 21 comparisons."
    )
    noise = [entry("A", name, **NOISE) for name in names]
    assert said(*noise, entry("B", "C"), family=21, A=0.6, **means).startswith(
        "A has the highest ndcg@10, 0.600. "
        "A does not differ significantly from B, C, D, E and 2 others (smallest p = 0.400 "
        "corrected for 21 comparisons). "
    )


@pytest.mark.parametrize("pairs", ["all", "baseline"])
def test_a_system_without_scores_is_listed_separately(pairs: str) -> None:
    scores = np.random.default_rng(1).random((4, 40, 1))
    scores[2:] = np.nan
    systems = ["A", "B", "C", "D"]
    both = compare(scores, systems=systems, metrics=["ndcg@10"], pairs=pairs, draws=99)
    assert verdict(both).endswith("C and D have no score on ndcg@10.")
    assert "C" not in verdict(both).partition("C and D")[0]
    one = compare(scores[:3], systems=systems[:3], metrics=["ndcg@10"], draws=99)
    assert verdict(one).endswith("C has no score on ndcg@10.")


def test_what_is_detectable_names_the_metrics_and_pairs_that_it_holds_for() -> None:
    noisier = entry(difference=0.089, interval=interval(0.024, 0.154), detectable=0.098)
    others = (entry(metric=name, **NOISE | {"detectable": 0.068}) for name in ("mrr@10", "ap"))
    assert said(noisier, *others).endswith("of about 0.068 or more on mrr@10 and ap.")
    assert said(entry(**NOISE), entry(metric="ap", **NOISE)).endswith(f"{REACH}.")
    few = NOISE | {"wins": 2, "ties": 122, "losses": 0, "changed": 2}
    text = said(noisier, entry(metric="hit@1", **few))
    assert "On hit@1 only 2 queries differ, and the test needs at least 6" in text


def test_equal_systems_among_others_are_called_equal() -> None:
    tie: dict[str, Any] = {"wins": 0, "ties": 127, "losses": 0, "difference": 0.0}
    entries = [
        entry("A", "B", **NOISE | tie),
        entry("A", "C", difference=-0.1),
        entry("B", "C", difference=-0.1),
    ]
    text = said(*entries, family=3, A=0.6, B=0.6, C=0.5)
    assert "A and B have the same score on every query." in text
    assert "reliably detect" not in text


def test_a_system_that_is_better_than_the_best_on_common_queries_is_reported() -> None:
    entries = [entry("A", "B"), entry("A", "C", difference=-0.1), entry("B", "C", **NOISE)]
    text = said(*entries, family=3, A=0.6, B=0.55, C=0.5)
    assert f"B is better than A on their common queries ({NUMBERS})" in text
    assert "No significant" not in text


def test_the_result_of_a_comparison_has_its_verdict() -> None:
    scores = np.array([[[0.0]] * 8, [[1.0]] * 8])
    comparison = compare(scores, systems=["A", "B"], metrics=["mrr"])
    result = ComparisonResult((), comparison, {}, f"{verdict(comparison)} Limits.")
    assert verdict(comparison).startswith("B is better than A")
    assert verdict(result) == f"{verdict(comparison)} Limits."


LOST: dict[str, Any] = {"difference": -0.041, "interval": interval(-0.070, -0.012)}


def test_the_verdict_of_a_gate_is_about_the_new_run() -> None:
    worse, better = "B is worse than the baseline: ", "B is better than the baseline: "
    assert said(entry(**LOST), entry(metric="ap", **LOST), words=gate_verdict) == (
        f"{worse}ndcg@10 -0.041 [-0.070, -0.012], p = 0.004. It is also worse on ap."
    )
    text = said(entry(), entry(metric="lines@10"), lower=("lines@10",), words=gate_verdict)
    assert text == (
        f"{worse}lines@10 +0.041 [0.012, 0.070] (lower is better), p = 0.004. "
        f"{better}ndcg@10 {NUMBERS}."
    )
    same = entry(difference=0.0, wins=0, losses=0, ties=127, interval=interval(0, 0))
    assert said(same, words=gate_verdict) == (
        "B and the baseline have the same ndcg@10 on every query."
    )


def test_the_verdict_of_a_gate_needs_interval_and_test() -> None:
    pair = "No significant difference between B and the baseline on ndcg@10"
    text = said(entry(**{**LOST, "p": 0.125, "p_corrected": 0.125}), words=gate_verdict)
    assert text.startswith(
        f"{pair} (-0.041 [-0.070, -0.012], p = 0.125, although the interval excludes 0)."
    )
    text = said(entry(interval=interval(-0.01, 0.07)), words=gate_verdict)
    assert text.startswith(
        f"{pair} (+0.041 [-0.010, 0.070], p = 0.004, but the interval includes 0)."
    )
    two = said(entry(**NOISE), entry(metric="ap", **NOISE), words=gate_verdict)
    assert two.startswith(f"{pair} (+0.010 [-0.050, 0.070], p = 0.400) and ap.")


CONTRADICTION: dict[str, Any] = {"difference": 0.046, "interval": interval(-0.051, 0.070)}


def test_no_system_is_better_if_the_interval_includes_0() -> None:
    odd = entry(**CONTRADICTION, p=0.003, p_corrected=0.003)
    why = "(+0.046 [-0.051, 0.070], p = 0.003{}, but the interval includes 0)"
    assert said(odd).startswith(
        f"No significant difference between B and A on ndcg@10 {why.format('')}. "
    )
    noise = [entry("A", name, **NOISE) for name in ("C", "D")]
    corrected = why.format(" corrected for 6 comparisons")
    text = said(odd, *noise, family=6, pairs="baseline")
    assert text.startswith(
        f"No significant difference between B and A {corrected}. A does not differ significantly "
        "from C and D (smallest p = 0.400)."
    )
    text = said(odd, *noise, family=6, B=0.55, A=0.504, C=0.5)
    assert text.startswith(
        f"B has the highest ndcg@10, 0.550. No significant difference between B and A {corrected}."
    )


def test_a_difference_without_a_p_value_has_none() -> None:
    # As of a human sample that is too small for an interval.
    unknown = entry(p=None, p_corrected=None, interval=Interval(None, None, 0.95, "none"))
    text = said(unknown, entry("A", "C", **NOISE), family=2, pairs="baseline")
    assert text.startswith(
        "No significant difference between B and A (+0.041). No significant difference between C "
        "and A (+0.010 [-0.050, 0.070], p = 0.400 corrected for 2 comparisons). "
    )


def test_an_interval_without_correction_says_so() -> None:
    pair = entry("A", "B", p=0.03, p_corrected=0.09)
    text = said(pair, entry("A", "C"), entry("C", "B"), family=3, A=0.5, B=0.541, C=0.4)
    assert (
        "No significant difference between B and A (+0.041 [0.012, 0.070], p = 0.090, although the "
        "uncorrected interval excludes 0)."
    ) in text


def test_too_few_changed_queries_can_never_be_significant() -> None:
    few = entry(changed=5, wins=5, losses=0, ties=122, p=0.0625, p_corrected=0.0625)
    bound = "and the test needs at least 6 to call a difference significant."
    assert said(few) == (
        "No significant difference between B and A on ndcg@10 (+0.041 [0.012, 0.070], p = 0.062, "
        f"although the interval excludes 0). Only 5 queries differ, {bound}"
    )
    assert said(few, words=gate_verdict).endswith(f" Only 5 queries differ, {bound}")
    one = replace(few, changed=1, wins=1)
    assert said(one).endswith(f" Only 1 query differs, {bound}")
    other = replace(few, metric="hit@1", changed=2, wins=2)
    assert said(entry(**NOISE), other).endswith(
        f" On hit@1 only 2 queries differ, {bound} {REACH} on ndcg@10."
    )
    assert said(few, other).endswith(f" At most 5 queries differ, {bound}")
    strict = replace(few, interval=Interval(0.01, 0.07, 0.99, "bootstrap-t"), changed=7, wins=7)
    assert said(strict).endswith(f" Only 7 queries differ, {bound.replace('6', '8')}")


def test_five_real_queries_are_not_called_reliable() -> None:
    worse = [[0.63], [0.5], [0.39], [0.43], [0.36]]
    text = verdict(
        compare([worse, [[1.0]] * 5], systems=["a", "b"], metrics=["ndcg@10"], bounds=(0, 1))
    )
    assert "reliably" not in text
    assert text.endswith(
        "Only 5 queries differ, and the test needs at least 6 to call a difference significant."
    )


def test_clusters_are_what_the_test_flips() -> None:
    scores = np.array([np.full(30, 0.5), np.linspace(0.6, 1.0, 30)])[:, :, None]
    labels = [f"case {row // 6}" for row in range(30)]
    text = verdict(
        compare(scores, systems=["A", "B"], metrics=["ap"], bounds=(0, 1), clusters=labels)
    )
    assert text.startswith("No significant difference between B and A on ap (+0.300 [")
    assert text.endswith(
        "Only 5 clusters differ, and the test needs at least 6 to call a difference significant."
    )


def test_identical_systems_have_no_best_one() -> None:
    scores = np.random.default_rng(3).random((1, 40, 1)).repeat(4, axis=0)
    mean = f"{scores[0].mean():.3f}"
    names = ["A", "B", "C", "D"]
    text = verdict(compare(scores[:3], systems=names[:3], metrics=["ap"], draws=99))
    assert text == f"A, B and C have the same ap on every query, {mean} on average."
    scores[3] -= 0.1
    text = verdict(compare(scores, systems=names, metrics=["ap"], draws=999))
    assert text.startswith(f"A, B and C have the highest ap, {mean}. A is better than D (+0.100")
    assert text.endswith(" A, B and C have the same score on every query.")
    text = verdict(
        compare(scores, systems=names, metrics=["ap"], pairs="baseline", baseline="B", draws=999)
    )
    assert text.endswith(" B, A and C have the same score on every query.")


@pytest.mark.parametrize(
    ("difference", "ends", "text"),
    [
        (0.00009, (0.00001, 0.0002), "+0.00009 [0.00001, 0.00020]"),
        (-0.00009, (-0.0003, 0.0001), "+0.00009 [-0.00010, 0.00030]"),
        (0.02, (0.0003, 0.04), "+0.0200 [0.0003, 0.0400]"),
        (0.02, (-0.0003, 0.04), "+0.0200 [-0.0003, 0.0400]"),
        (0.02, (0.0, 0.04), "+0.020 [0.000, 0.040]"),
        (6.1e-05, (-0.001, 0.001), "+0.00006 [-0.00100, 0.00100]"),
    ],
)
def test_an_interval_has_the_digits_of_its_difference(
    difference: float, ends: tuple[float, float], text: str
) -> None:
    pair = entry(difference=difference, interval=interval(*ends))
    assert text in said(pair)


@pytest.mark.parametrize("pairs", ["all", "baseline"])
@pytest.mark.parametrize("systems", [2, 3])
def test_whoever_is_called_better_has_an_interval_on_one_side(systems: int, pairs: str) -> None:
    # Many small gains and few large losses, on average 0: here the test alone is often wrong.
    rng = np.random.default_rng(77)
    names = ["A", "B", "C"][:systems]
    contradicted = 0
    for _ in range(60):
        change = np.where(
            rng.random((systems - 1, 60)) < 0.1,
            -rng.uniform(0.17, 1.0, (systems - 1, 60)),
            rng.uniform(0.0, 0.13, (systems - 1, 60)),
        )
        scores = np.concatenate([np.full((1, 60), 0.5), 0.5 + change])[:, :, None]
        comparison = compare(
            scores, systems=names, metrics=["ap"], pairs=pairs, bounds=(0, 1), draws=499
        )
        for one in comparison.differences:
            odd = bool(one.p_corrected and one.p_corrected <= 0.05) and not one.excludes_zero
            contradicted += odd
        text = verdict(comparison)
        claims = re.findall(r"better than|worse than", text)
        beaten = [one for one in comparison.differences if one.is_significant]
        assert not claims or beaten
        for low, high in re.findall(r"\w+ is better than [^.]*?\[(-?[\d.]+), (-?[\d.]+)\]", text):
            assert float(low) > 0 or float(high) < 0
    assert contradicted


def test_metrics_and_pairs_without_a_detectable_difference_are_named() -> None:
    """The number of the others does not hold for them."""
    blind = NOISE | {"changed": 7, "detectable": None}
    seen = NOISE | {"changed": 30, "detectable": 0.05}
    reach = "127 queries can reliably detect differences of about 0.050 or more"
    assert said(entry(**blind), entry(metric="mrr@10", **seen)).endswith(
        f"{reach} on mrr@10. They cannot reliably detect any on ndcg@10."
    )
    pairs = [entry(system="B", **blind), entry(system="C", **seen), entry(system="D", **seen)]
    of_many: dict[str, Any] = {
        "family": 3,
        "pairs": "baseline",
        "A": 0.5,
        "B": 0.51,
        "C": 0.51,
        "D": 0.51,
    }
    assert said(*pairs, **of_many).endswith(
        f"{reach} between A and C and D. They cannot reliably detect any between A and B."
    )
    # The number of one pair says little about two others.
    pairs[2] = entry(system="D", **blind)
    assert said(*pairs, **of_many).endswith("127 queries cannot reliably detect any difference.")
    # One difference was detected.
    pairs[1] = entry(system="C")
    assert said(*pairs, **of_many).endswith("cannot reliably detect any other difference.")


def test_a_set_that_can_detect_nothing_says_so() -> None:
    scores = np.random.default_rng(5).random((4, 7, 1))
    comparison = compare(scores, systems=["A", "B", "C", "D"], metrics=["ndcg@10"], bounds=(0, 1))
    assert {difference.detectable for difference in comparison.differences} == {None}
    assert verdict(comparison).endswith("7 queries cannot reliably detect any difference.")
    # A difference that no noise hides is no sign of too few queries.
    flat = [[[0.5]] * 7, [[0.6]] * 7]
    assert "cannot" not in verdict(compare(flat, systems=["A", "B"], metrics=["ndcg@10"]))
