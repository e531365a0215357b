import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.scoring.stats.paired import wilcoxon


def test_by_hand() -> None:
    test = wilcoxon([0.1, 0.2, -0.3, 0.4, 0.0, math.nan])
    # Rank sums of 3 or less, of 7 or more: {}, 1, 2, 3, 1 + 2 and their mirrors, of sixteen.
    assert (test.positive, test.negative, test.n) == (7.0, 3.0, 4)
    assert test.p == 10 / 16
    assert "not whether the mean differs" in test.warning


@given(st.sets(st.integers(-500, 500).filter(bool), min_size=1, max_size=45))
def test_exact_agrees_with_scipy_without_ties(values: set[int]) -> None:
    distinct = np.array([value for value in values if not (value < 0 and -value in values)])
    expected = stats.wilcoxon(distinct, method="exact").pvalue
    test = wilcoxon(distinct)
    assert test.method == "exact"
    assert test.p == pytest.approx(expected, abs=1e-12)


def test_normal_with_ties_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).integers(-5, 7, 200) / 10
    expected = stats.wilcoxon(values, zero_method="wilcox", correction=False, method="approx")
    test = wilcoxon(values)
    assert test.method == "normal"
    assert test.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_nothing_to_rank_has_p_one() -> None:
    assert wilcoxon([0.0, 0.0]).p == 1.0
