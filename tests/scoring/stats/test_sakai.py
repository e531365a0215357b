"""Sakai's worked example: three systems on twenty topics (Laboratory Experiments in Information
Retrieval, 2018, table 5.1), with the values printed in the book."""

import numpy as np
import pytest

from karat.scoring.stats import (
    compare,
    randomised_tukey,
    sign_flip,
)

TENTHS = np.array(
    [
        [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
        [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
        [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
    ]
)
X, Y, Z = SCORES = TENTHS / 10


def test_paired_t_and_effect_size() -> None:
    comparison = compare(SCORES[[1, 0], :, None], systems="YX", metrics=["ndcg@5"], draws=99)
    (entry,) = comparison.differences
    assert entry.p_student == pytest.approx(0.048, abs=5e-4)
    assert entry.effect == pytest.approx(0.473, abs=5e-4)


def test_exact_sign_flip() -> None:
    (test,) = sign_flip(X - Y)
    assert test.method == "exact grid"
    assert test.p == pytest.approx(0.0659, abs=5e-5)


def test_effect_sizes_of_tukeys_test() -> None:
    comparison = compare(SCORES[:, :, None], systems="XYZ", metrics=["ndcg@5"], draws=99)
    sizes = [-(entry.effect_residual or 0.0) for entry in comparison.differences]
    assert sizes == pytest.approx([0.507, 0.676, 0.169], abs=5e-4)


def test_randomised_tukey_counts_ties_although_rounding_separates_them() -> None:
    p = randomised_tukey(SCORES.T)
    in_tenths = randomised_tukey(TENTHS.T)
    # Whole tenths have no rounding at all; without a tolerance the first value is about 0.26.
    assert np.array_equal(p, in_tenths)
    assert p[0, 1] == pytest.approx(0.3025, abs=0.02)
    assert p[0, 2] == pytest.approx(0.104, abs=0.015)
    assert p[1, 2] == pytest.approx(0.8926, abs=0.015)
