import math

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats.paired import residual_variance


def test_two_systems_have_half_the_variance_of_their_differences() -> None:
    table = np.random.default_rng(0).random((30, 2))
    expected = (table[:, 0] - table[:, 1]).var(ddof=1) / 2
    assert residual_variance(table) == pytest.approx(expected)


def test_incomplete_queries_are_dropped() -> None:
    table = np.random.default_rng(1).random((10, 3))
    assert residual_variance([*table.tolist(), [math.nan, 0, 0]]) == residual_variance(table)


def test_without_noise_or_queries_there_is_no_variance() -> None:
    assert residual_variance([[0.1, 0.2], [0.3, 0.4], [0.6, 0.7]]) == 0.0
    assert residual_variance([[0.1, 0.2]]) is None


def test_one_system_is_rejected() -> None:
    with pytest.raises(InputError, match="got 1 system"):
        residual_variance([0.1, 0.2])
