import math

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.mcnemar import mcnemar
from karat.scoring.stats.signflip import sign_flip


def test_by_hand_with_a_missing_query() -> None:
    found = mcnemar([1, 1, 0, 1, math.nan, 1], [0, 0, 1, 1, 0, 0])
    assert (found.only_system, found.only_baseline) == (3, 1)
    assert found.p == pytest.approx(10 / 16)


def test_agrees_with_scipy_and_with_the_sign_flip_test() -> None:
    rng = np.random.default_rng(0)
    system, baseline = rng.integers(0, 2, 200).astype(float), rng.integers(0, 2, 200).astype(float)
    found = mcnemar(system, baseline)
    trials = found.only_system + found.only_baseline
    assert found.p == pytest.approx(stats.binomtest(found.only_system, trials).pvalue)
    assert found.p == sign_flip(system - baseline)[0].p


def test_other_values_and_other_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="other than 0 and 1"):
        mcnemar([0.5, 1], [0, 1])
    with pytest.raises(InputError, match="2 and 3 queries"):
        mcnemar([0, 1], [0, 1, 1])
