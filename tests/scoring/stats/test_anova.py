import math

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats.tests import paired_t, two_way_anova


def test_two_systems_are_the_paired_t_test() -> None:
    table = np.random.default_rng(0).random((30, 2))
    test = paired_t(table[:, 0] - table[:, 1])
    found = two_way_anova(table)
    assert test.t is not None
    assert found.f_systems == pytest.approx(test.t**2)
    assert found.p_systems == pytest.approx(test.p, abs=1e-10)


def test_incomplete_queries_are_left_out() -> None:
    table = np.random.default_rng(1).random((10, 3))
    assert two_way_anova([*table.tolist(), [math.nan, 0, 0]]) == two_way_anova(table)


def test_without_noise_or_queries_there_is_no_f() -> None:
    assert two_way_anova([[0.1, 0.2], [0.3, 0.4], [0.6, 0.7]]).residual_variance == 0.0
    assert two_way_anova([[0.1, 0.2]]).residual_variance is None


def test_one_system_is_refused() -> None:
    with pytest.raises(InputError, match="got 1 system"):
        two_way_anova([0.1, 0.2])
