import math

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats.sequential import confidence_sequence


def test_the_running_mean_and_an_interval_around_it() -> None:
    values = np.random.default_rng(0).normal(0.1, 0.3, 200)
    found = confidence_sequence([*values, math.nan])
    assert len(found.mean) == 200
    assert found.mean[-1] == pytest.approx(values.mean())
    assert np.isnan(found.low[:9]).all()
    assert (found.low[9:] < found.mean[9:]).all()
    assert found.high[9:] - found.mean[9:] == pytest.approx(found.mean[9:] - found.low[9:])


def test_by_hand_at_one_point() -> None:
    found = confidence_sequence([1.0, -1.0] * 50, planned=100)
    wish = -2 * math.log(0.05)
    rho2 = (wish + math.log(wish + 1)) / 100
    spread = 100 * rho2 + 1
    expected = math.sqrt(2 * spread / (100**2 * rho2) * math.log(math.sqrt(spread) / 0.05))
    assert found.high[-1] == pytest.approx(expected)


def test_looking_after_every_query_rarely_raises_a_false_alarm() -> None:
    rng = np.random.default_rng(1)
    decided = [confidence_sequence(rng.normal(0, 0.3, 127)).decided_at() for _ in range(400)]
    # At most 5 % are allowed; a t test looked at as often gives about 30 %.
    assert sum(point is not None for point in decided) <= 0.08 * 400


def test_a_real_difference_stops_early() -> None:
    values = np.random.default_rng(2).normal(0.3, 0.3, 127)
    point = confidence_sequence(values).decided_at()
    assert point is not None
    assert point < 60


def test_no_variance_and_no_values_decide_nothing() -> None:
    assert confidence_sequence([0.5] * 30).decided_at() is None
    assert confidence_sequence([]).decided_at() is None


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="start 1"):
        confidence_sequence([0.1], start=1)
    with pytest.raises(InputError, match="level"):
        confidence_sequence([0.1], level=2)
