"""Every branch of a decision, and how often chance alone would fail a gate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.gate import (
    latency_check,
    lost_hits_check,
    minimum_check,
    regression_check,
    tolerance,
)
from karat.errors import InputError
from karat.model.comparison import Difference, Interval
from karat.model.evaluation import Summary
from karat.model.gate import Decision
from karat.scoring.stats import compare

PASSED, UNSURE, FAILED = Decision.PASSED, Decision.INCONCLUSIVE, Decision.FAILED
SIMULATIONS = 200


def difference(change: float | None, low: float | None, high: float | None) -> Difference:
    return Difference(
        baseline="old",
        system="new",
        metric="ndcg@10",
        n=40,
        missing=0,
        baseline_mean=0.6,
        system_mean=0.5,
        difference=change,
        relative=None,
        interval=Interval(low, high, 0.95, "bootstrap-t"),
        p=0.01,
        p_method="exact grid",
        p_corrected=0.01,
        p_student=None,
        effect=None,
        effect_residual=None,
        wins=1,
        ties=1,
        losses=1,
        detectable=0.05,
    )


@pytest.mark.parametrize(
    ("change", "low", "high", "decision"),
    [
        (-0.05, -0.08, -0.02, FAILED),
        (-0.05, -0.11, 0.01, UNSURE),
        (-0.05, -0.10, 0.00, UNSURE),  # an interval that ends at 0 does not exclude it
        (-0.05, None, None, FAILED),  # without an interval the test decides
        (-0.01, -0.015, -0.005, PASSED),  # real, and allowed
        (-0.02, -0.03, -0.01, PASSED),  # just what is allowed
        (+0.05, 0.02, 0.08, PASSED),
        (0.0, 0.0, 0.0, PASSED),
    ],
)
def test_a_loss_fails_where_it_is_too_large_and_real(
    change: float, low: float | None, high: float | None, decision: Decision
) -> None:
    check = regression_check(difference(change, low, high), 0.02)
    assert (check.decision, check.value, check.n) == (decision, -change, 40)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (-0.05, "ndcg@10 fell from 0.600 to 0.550 (-0.050 [-0.060, -0.040], significant)"),
        (+0.05, "ndcg@10 rose from 0.600 to 0.650 (+0.050 [+0.040, +0.060])"),
        (
            -0.0004,
            "ndcg@10 fell from 0.6000 to 0.5996 (-0.0004 [-0.0100, +0.0100], not significant)",
        ),
        (0.0, "ndcg@10 stayed at 0.600 (0.000 [-0.010, +0.010])"),
    ],
)
def test_the_reason_has_the_means_before_and_after(change: float, why: str) -> None:
    entry = difference(change, round(change, 2) - 0.01, round(change, 2) + 0.01)
    p = 0.01 if entry.excludes_zero else 0.3
    entry = replace(entry, system_mean=0.6 + change, p=p, p_corrected=p)
    check = regression_check(entry, 0.0)
    assert check.why == why
    assert (check.before, check.after) == (0.6, 0.6 + change)


@pytest.mark.parametrize(
    ("high", "p", "decision", "remark"),
    [
        (-0.003, 0.05, FAILED, "significant"),
        (-0.003, 0.125, UNSURE, "not significant: p = 0.125 in the paired test"),
        (
            *(0.003, 0.04, UNSURE),
            "not significant: the interval includes 0, although p = 0.040 in the paired test",
        ),
        (0.003, 0.125, UNSURE, "not significant"),
        (None, 0.125, UNSURE, "not significant"),
    ],
)
def test_a_loss_is_significant_if_interval_and_test_agree(
    high: float | None, p: float, decision: Decision, remark: str
) -> None:
    low = None if high is None else -0.244
    check = regression_check(replace(difference(-0.1, low, high), p=p, p_corrected=p), 0.02)
    assert check.decision is decision
    assert check.why.endswith(f", {remark})")


@pytest.mark.parametrize(
    ("change", "high", "identical", "decision"),
    [
        (-0.01, 0.01, True, PASSED),  # within the tolerance
        (-0.03, 0.01, True, FAILED),  # above it, and a fact for an engine that answers identically
        (-0.03, 0.01, False, UNSURE),
        (-0.03, -0.01, False, FAILED),
        (-0.01, -0.005, True, FAILED),  # within it, and significant
        (-0.01, -0.005, False, FAILED),
        (+0.03, 0.05, True, PASSED),
        (+0.03, 0.05, False, PASSED),
        (0.0, 0.0, True, PASSED),
    ],
)
def test_above_the_tolerance_an_identical_engine_has_lost(
    change: float, high: float, identical: bool, decision: Decision
) -> None:
    low = 0.01 if change > 0 else -0.06
    entry = difference(change, low, high)
    check = regression_check(entry, 0.02, is_default=True, identical=identical)
    assert (check.decision, check.is_default) == (decision, True)
    # With a limit that somebody has set, identical answers change nothing.
    plain, other = (regression_check(entry, 0.02, identical=each) for each in (False, True))
    assert plain == other


def test_the_tolerance_is_a_third_of_the_standard_error() -> None:
    scores = [1.0] * 20 + [0.0] * 30
    # The standard deviation of 50 values of which 40 % are 1: sqrt(.4 * .6 * 50 / 49) = .4949.
    assert tolerance(scores) == round(0.4949 / 50**0.5 / 3, 4) == 0.0233
    assert tolerance([*scores, float("nan")]) == tolerance(scores)
    # Four times the queries halve it, up to its least.
    assert tolerance(scores * 4) == pytest.approx(0.0233 / 2, abs=2e-4)
    assert tolerance(scores * 100) == tolerance([1.0] * 30) == tolerance([]) == 0.005


def test_a_query_that_lost_all_hits_is_counted_and_named() -> None:
    before = {"had": 3, "kept": 1, "never": 0, "unjudged": None, "other": 9}
    now = {"had": 0, "kept": 1, "never": 0, "unjudged": None, "other": 0}
    check = lost_hits_check(before, now, 1)
    assert (check.decision, check.value, check.n) == (FAILED, 2, 3)
    assert check.why == "2 of 3 queries with hits in the baseline have none now: had, other"
    assert lost_hits_check(before, now, 2).decision is PASSED
    fine = lost_hits_check(before, before, 0)
    assert (fine.decision, fine.why) == (
        PASSED,
        "3 queries with hits in the baseline still have some",
    )


def test_more_is_worse_where_less_is_better() -> None:
    entry = difference(+50.0, 20.0, 80.0)
    assert regression_check(entry, 10, lower_is_better=True).decision is FAILED
    assert regression_check(entry, 10).decision is PASSED


def test_too_few_queries_decide_nothing() -> None:
    for check in (
        regression_check(difference(-0.05, -0.08, -0.02), 0.02, min_queries=41),
        regression_check(difference(+0.05, 0.02, 0.08), 0.02, min_queries=41),
        minimum_check(Summary("hit@5", 0.5, 0.5, 40), 0.7, min_queries=41),
        minimum_check(Summary("hit@5", 0.9, 0.9, 40), 0.7, min_queries=41),
        latency_check([1.0] * 40, 50, 2.0, min_queries=41),
    ):
        assert check.decision is UNSURE
        assert check.why == "only 40 queries; at least 41 are required"
    assert minimum_check(Summary("hit@5", 0.9, 0.9, 40), 0.7, min_queries=40).decision is PASSED


def test_a_minimum_is_one_of_the_mean_and_not_of_its_interval() -> None:
    wide = Interval(0.5, 0.9, 0.95, "bootstrap-t")
    assert minimum_check(Summary("hit@5", 0.7, 0.7, 9, wide), 0.7).decision is PASSED
    below = minimum_check(Summary("hit@5", 0.69, 0.69, 9, wide), 0.7)
    assert (below.decision, below.why) == (FAILED, "the mean is 0.690 [0.500, 0.900]")


def test_a_percentile_is_held_to_its_limit() -> None:
    times = [float(number) for number in range(1, 11)]
    # Linear interpolation: p90 of 1 to 10 is 9.1.
    assert latency_check(times, 90, 9.1).decision is PASSED
    assert latency_check(times, 90, 9.0).decision is FAILED


def test_a_percentile_of_too_few_latencies_decides_nothing() -> None:
    check = latency_check([1.0] * 99, 99, 200.0)
    assert check.decision is UNSURE
    assert check.why == "p99 needs 100 latencies, the run has 99; raise --timed"
    assert latency_check([1.0] * 100, 99, 200.0).decision is PASSED


def test_a_percentile_of_few_latencies_can_still_be_too_slow() -> None:
    check = latency_check([10_000.0] * 20, 99, 200.0)
    assert check.decision is FAILED
    assert check.why == (
        "measured 10000.0 ms; p99 needs 100 latencies, the run has 20; raise --timed"
    )


def test_disturbed_latencies_are_named() -> None:
    check = latency_check([30.0], 50, 20.0, disturbed=True)
    assert (check.decision, check.why) == (
        FAILED,
        "measured 30.0 ms, disturbed by other karat runs",
    )


def test_what_was_not_measured_is_an_error_and_no_pass() -> None:
    with pytest.raises(InputError, match="no latencies; repeat it with --timed 20"):
        latency_check([], 90, 200.0)
    with pytest.raises(InputError, match="no query has a score on hit@5"):
        minimum_check(Summary("hit@5", float("nan"), float("nan"), 0), 0.7)
    with pytest.raises(InputError, match="no query is scored in both runs"):
        regression_check(difference(None, None, None), 0.02)


@given(st.floats(-1, 1), st.floats(0, 0.5), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_allowance_never_makes_it_worse(
    change: float, width: float, first: float, second: float
) -> None:
    entry = difference(change, change - width, change + width)
    order = [PASSED, UNSURE, FAILED]
    small, large = sorted((first, second))
    strict, lax = (order.index(regression_check(entry, limit).decision) for limit in (small, large))
    assert lax <= strict


def simulated(rng: np.random.Generator, *, loss: float) -> Decision:
    """Return the decision on 50 queries whose scores are noisy, and on average *loss* lower."""
    old = rng.beta(2, 2, 50)
    new = np.clip(old + rng.normal(0, 0.15, 50) - loss, 0, 1)
    contest = compare(
        np.stack([old, new])[:, :, None],
        systems=["old", "new"],
        metrics=["ndcg@10"],
        bounds=(0, 1),
        draws=499,
    )
    return regression_check(contest.differences[0], 0.01).decision


def test_noise_is_not_failed() -> None:
    rng = np.random.default_rng(7)
    decisions = [simulated(rng, loss=0.0) for _ in range(SIMULATIONS)]
    # One tail of a 95 % interval is 2.5 %, 5 of 200; more than 12 of them in 1 of 500 series.
    assert decisions.count(FAILED) <= 12
    # The limit alone, without the interval, would have failed these as well.
    assert decisions.count(UNSURE) > 20


def test_a_planted_loss_is_found() -> None:
    rng = np.random.default_rng(8)
    decisions = [simulated(rng, loss=0.15) for _ in range(SIMULATIONS)]
    assert decisions.count(FAILED) > 0.98 * SIMULATIONS
