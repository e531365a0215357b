import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from karat.scoring.stats.moments import column_moments
from karat.scoring.stats.paired import TTest, t_from_moments


def paired_t(differences: ArrayLike, *, clusters: ArrayLike | None = None) -> TTest:
    (moments,) = column_moments(differences, clusters=clusters)
    return t_from_moments(moments)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
def test_agrees_with_scipy(differences: list[float]) -> None:
    assume(np.std(differences) > 1e-6)
    expected = stats.ttest_1samp(differences, 0.0)
    test = paired_t(differences)
    assert test.t == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert test.p == pytest.approx(expected.pvalue, abs=1e-10)


def test_no_variance_has_no_t() -> None:
    assert paired_t([]) == (None, 0, None)
    assert paired_t([0.5]) == (None, 0, None)
    assert paired_t([0.5, 0.5]) == (None, 1, None)
    assert paired_t([0.0, 0.0, math.nan]) == (None, 1, 1.0)


def test_clusters_take_the_place_of_queries() -> None:
    values = np.random.default_rng(0).normal(0.1, 0.3, 30)
    copied = paired_t(np.repeat(values, 4), clusters=np.repeat(np.arange(30), 4))
    once = paired_t(values)
    assert copied.df == 29
    assert copied.p == pytest.approx(once.p)


def test_clusters_that_cancel_out_have_no_t() -> None:
    assert paired_t([0.5, -0.5, 0.25, -0.25], clusters=[0, 0, 1, 1]).t is None
