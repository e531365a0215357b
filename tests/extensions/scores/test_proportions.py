"""Shares of ones and McNemar's test, against SciPy."""

from math import nan

import pytest

from karat.extensions.scores.proportions import change, proportion, wilson

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("n", [1, 7, 50, 400])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_are_those_of_scipy(n: int, share: float, level: float) -> None:
    hits = round(share * n)
    known = proportion([1.0] * hits + [0.0] * (n - hits) + [nan], level)
    assert known is not None
    assert (known.hits, known.n) == (hits, n)
    test = stats.binomtest(hits, n)
    for method, ends in (("wilson", known.wilson), ("exact", known.exact)):
        expected = test.proportion_ci(level, method=method)
        assert ends == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 10, 0.95)[0] == 0.0
    assert wilson(10, 10, 0.95)[1] == 1.0
    assert proportion([nan], 0.95) is None


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (5, 0), (1, 9), (12, 20), (300, 340)])
def test_mcnemar_is_the_binomial_test_of_scipy(gained: int, lost: int) -> None:
    before = [0.0] * gained + [1.0] * lost + [1.0, 0.0, 0.0, nan]
    after = [1.0] * gained + [0.0] * lost + [1.0, 0.0, 0.0, 1.0]
    known = change(before, after)
    assert known[:4] == (1, gained, lost, 2)
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert known.p == pytest.approx(expected)
