"""When a significant difference is doubtful: large rare losses, and gains that are small."""

from typing import Any

import numpy as np
import pytest

from karat.model.comparison import LARGE_LOSSES, SMALL_GAINS
from karat.scoring.stats import compare, verdict
from karat.scoring.stats.paired import caution


def caution_of(*changes: float, bounds: Any = (0, 1), units: Any = None) -> str:
    differences = np.array(changes)
    return caution(differences, differences if units is None else np.array(units), bounds)


def test_large_losses_are_a_skewness_against_the_mean_by_hand() -> None:
    # Mean 0.02; centred 9 times 0.08 and once -0.72: (9 * 0.08^3 - 0.72^3) / 0.576^1.5 = -0.843.
    gains = [0.1] * 9
    assert caution_of(*gains, -0.7) == LARGE_LOSSES
    # In favour of the mean the tail is no reason for doubt, and the largest gain is not small.
    assert caution_of(*(-0.1 for _ in gains), 0.95) == ""
    assert caution_of(*(-gain for gain in gains), 0.7) == LARGE_LOSSES
    assert caution_of(*gains, float("nan"), units=[*gains, 0.0]) != ""


def test_a_tail_of_smaller_gains_or_of_small_losses_is_no_reason_for_doubt() -> None:
    # Centred 7 times 1/16 and once -7/16: (7 - 343) / 56^1.5 = -0.80, and no query loses.
    assert caution_of(*[1.0] * 7, 0.5) == ""
    assert caution_of(*[0.9] * 9, -0.5) == ""
    assert caution_of(*[0.4] * 9, -0.5) == LARGE_LOSSES


def test_small_gains_are_less_than_three_failed_queries() -> None:
    assert caution_of(*[0.1] * 15) == SMALL_GAINS
    assert caution_of(*[-0.1] * 15) == SMALL_GAINS
    assert caution_of(*[0.1] * 29) == SMALL_GAINS
    assert caution_of(*[0.1] * 31) == ""  # three failed queries would cost less
    assert caution_of(*[0.1] * 14, 0.3) == ""  # a large gain shows that large changes are seen
    assert caution_of(*[5.0] * 15, bounds=(0, 100)) == SMALL_GAINS
    assert caution_of(*[0.1] * 15, bounds=None) == ""
    assert caution_of(*[0.1] * 15, bounds=(0, float("inf"))) == ""
    assert caution_of(0.1, -0.1) == ""
    assert caution_of(0.0) == ""


def test_clusters_are_skewed_by_their_totals() -> None:
    changes = [0.1] * 18 + [-0.35, -0.35]
    assert caution_of(*changes, units=[0.2] * 9 + [-0.7]) == LARGE_LOSSES
    # The same queries in clusters of one total are not skewed.
    assert caution_of(*changes, units=[0.11] * 10) == SMALL_GAINS


def skewed(rng: np.random.Generator, n: int) -> Any:
    """Return scores of equal means: small gains on most queries, large losses on a tenth."""
    lost = rng.random(n) < 0.1
    change = np.where(lost, -rng.uniform(0.17, 1.0, n), rng.uniform(0.0, 0.13, n))
    before = np.where(lost, 1.0, 0.5)
    return np.stack([before, before + change])[:, :, None]


def reciprocal_rank(rng: np.random.Generator, n: int) -> Any:
    latent = rng.normal(0.0, 1.0, (n, 1)) + rng.normal(0.0, 0.8, (n, 2)) + [0.0, 0.5]
    rank = np.ceil(np.exp(1.2 - 1.3 * latent))
    return np.where(rank <= 10, 1.0 / np.maximum(rank, 1.0), 0.0).T[:, :, None]


@pytest.mark.parametrize(
    ("make", "least", "most"), [(skewed, 0.7, 1.0), (reciprocal_rank, 0, 0.03)]
)
def test_false_alarms_get_a_caution_and_ordinary_scores_do_not(
    make: Any, least: float, most: float
) -> None:
    rng = np.random.default_rng(5)
    cautions = [
        bool(entry.caution)
        for n in (15, 30)
        for _ in range(120)
        for entry in compare(
            make(rng, n), systems="AB", metrics=["rr"], bounds=(0, 1), draws=499
        ).differences
        if entry.is_significant
    ]
    assert len(cautions) > 20
    assert least <= np.mean(cautions) <= most


def test_the_verdict_says_why_a_difference_is_doubtful() -> None:
    scores = np.full((3, 15, 1), 0.5)
    scores[1] += np.linspace(0.02, 0.13, 15)[:, None]
    two = verdict(compare(scores[:2], systems="AB", metrics=["rr"], bounds=(0, 1)))
    assert two.startswith("B is better than A: rr +0.075 [")
    assert two.endswith(
        "Caution: three failed queries would cost B more than all its gains, so the p value may be "
        "too optimistic."
    )
    scores[2] -= np.linspace(0.2, 0.5, 15)[:, None]
    three = verdict(compare(scores, systems="ABC", metrics=["rr"], bounds=(0, 1)))
    assert " Caution against A: three failed queries would cost B more than all its gains" in three
    both = np.concatenate([scores[:2], [scores[0] * 0, scores[0] * 0 + 1]], axis=0)
    metrics = np.concatenate([both[:2], both[2:]], axis=2)
    text = verdict(compare(metrics, systems="AB", metrics=["rr", "hit@1"], bounds=(0, 1)))
    assert "Caution on rr: three failed queries would cost B" in text
