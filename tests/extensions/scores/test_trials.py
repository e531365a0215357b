"""Components of variance of repeated trials, pass^k and pass@k."""

from collections.abc import Iterator
from itertools import combinations
from math import isnan, nan, sqrt

import numpy as np
import pytest

from karat.errors import InputError
from karat.extensions.scores.record import ScoreRow, ScoreSet
from karat.extensions.scores.trials import (
    pass_all,
    pass_any,
    pass_measures,
    trial_notes,
    variance,
)


def test_components_worked_by_hand() -> None:
    # Means 0.5, 1, 0 and 0.5; their variance is (0 + 1/4 + 1/4 + 0) / 3 = 1/6.
    # Within: the queries with 1, 0 have squares 1/2 each, over 4 degrees of freedom: 1/4.
    known = variance([[1, 0], [1, 1], [0, 0], [0, 1]])
    assert known is not None
    assert known.trials == pytest.approx(1 / 4)
    assert known.queries == pytest.approx(1 / 6 - 1 / 8)
    assert known.error == pytest.approx(sqrt(1 / 24))
    assert known.least == pytest.approx(sqrt(1 / 24 / 4))
    assert known.share == pytest.approx((1 / 4) / (1 / 4 + 1 / 24))


def test_components_agree_with_those_that_made_the_scores() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 2, 20_000)
    known = variance((truth[:, None] + rng.normal(0, 1, (20_000, 3))).tolist())
    assert known is not None
    assert known.queries == pytest.approx(4, rel=0.05)
    assert known.trials == pytest.approx(1, rel=0.05)
    assert known.error == pytest.approx(sqrt((4 + 1 / 3) / 20_000), rel=0.02)


def test_trials_that_are_missing_are_left_out() -> None:
    assert variance([[1, nan], [0, nan]]) is None
    assert variance([[1, 0], [nan, nan]]) is None
    known = variance([[1, 0, nan], [1, nan, nan], [0, 0, 0]])
    assert known is not None
    assert known.trials == pytest.approx(0.5 / 3)
    assert known.per_query == pytest.approx(3 / (1 / 2 + 1 + 1 / 3))


def subsets(outcomes: list[int], k: int) -> Iterator[tuple[int, ...]]:
    return combinations(outcomes, k)


@pytest.mark.parametrize("successes", range(6))
@pytest.mark.parametrize("k", range(1, 6))
def test_pass_counts_all_choices_of_k_trials(successes: int, k: int) -> None:
    drawn = list(subsets([1] * successes + [0] * (5 - successes), k))
    assert pass_all(successes, 5, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))
    assert pass_any(successes, 5, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))


def score_set() -> ScoreSet:
    trials = {"q1": (1, 1, 0), "q2": (1, 1, None), "q3": (0, 0)}
    return ScoreSet.of(
        ScoreRow(query, "a", {"ok": score, "f1": 0.5}, failed=score is None)
        for query, scores in trials.items()
        for score in scores
    )


def test_pass_measures() -> None:
    scores = pass_measures(score_set(), ["f1", "pass^2", "ok:pass@3"])
    assert [each.name for each in scores.measures] == ["f1", "pass^2", "ok:pass@3"]
    # q2 has failed once, which is no success; q3 has two trials only.
    assert scores.column("a", "pass^2") == pytest.approx([1 / 3, 1 / 3, 0])
    any_of = scores.column("a", "ok:pass@3")
    assert any_of[:2] == [1.0, 1.0]
    assert isnan(any_of[2])
    with pytest.raises(InputError, match="needs 4 trials of a query; scores has at most 3"):
        pass_measures(score_set(), ["pass^4"])
    with pytest.raises(InputError, match="needs a measure of 0 and 1"):
        pass_measures(score_set(), ["f1:pass^2"])


def test_note_on_trials() -> None:
    failures, note = trial_notes(score_set(), "ok")
    assert failures == "failed trials: 1 of a; each counts like a failed query"
    # q1 and q2 have squares 2/3 over 2 degrees of freedom each; q3 none, over 1.
    within = (4 / 3) / 5
    means = [2 / 3, 2 / 3, 0]
    between = np.var(means, ddof=1) - within * (1 / 3 + 1 / 3 + 1 / 2) / 3
    assert f"{within / (within + between):.0%}".replace("%", " %") in note
    assert f"from {sqrt(np.var(means, ddof=1) / 3):.3f} to {sqrt(between / 3):.3f}" in note
    assert list(trial_notes(ScoreSet.of([ScoreRow("q", "a", {"ok": 1})]), "ok")) == []
    same = ScoreSet.of(ScoreRow("q", "a", {"ok": 1}) for _ in range(2))
    assert list(trial_notes(same, "ok")) == []
