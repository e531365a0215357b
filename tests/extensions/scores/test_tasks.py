"""The macro mean of several tasks, and their table."""

from math import nan, sqrt

import numpy as np
import pytest

from karat.extensions.scores.tasks import macro_mean


def test_macro_mean_worked_by_hand() -> None:
    # Means 3/4 and 1/2; variances of them (1/4) / 4 and (1/2) / 2.
    known = macro_mean([[1, 0, 1, 1], [0, 1, nan]], 0.95)
    assert known is not None
    assert known.mean == 0.625
    parts = (1 / 16, 1 / 4)
    error = sqrt(sum(parts)) / 2
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 1)
    stats = pytest.importorskip("scipy.stats")
    reach = stats.t.ppf(0.975, freedom) * error
    assert known.interval.low == pytest.approx(0.625 - reach)
    assert known.interval.high == pytest.approx(0.625 + reach)
    assert known.p == pytest.approx(2 * stats.t.sf(0.625 / error, freedom))


def test_two_tasks_are_the_test_of_welch() -> None:
    # The macro mean of one sample and of minus the other is half their difference.
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    one, other = rng.normal(0.3, 1, 12), rng.normal(0, 3, 30)
    known = macro_mean([one.tolist(), (-other).tolist()], 0.95)
    assert known is not None
    assert known.p == pytest.approx(stats.ttest_ind(one, other, equal_var=False).pvalue)


def test_no_interval_where_there_is_none() -> None:
    for tasks in ([[1.0], [0.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]]):
        known = macro_mean(tasks, 0.95)
        assert known is not None
        assert (known.interval.low, known.p) == (None, None)
    assert macro_mean([[0.0, 1.0], [nan]], 0.95) is None
    dependent = macro_mean([[0.0, 1.0], [0.0, 1.0]], 0.95, dependent=True)
    assert dependent is not None
    assert dependent.interval.low is None
