import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.extensions.judges.stats.grades import binary_agreement, confusion_table, further_units
from karat.model.comparison import Interval
from karat.scoring.stats.agreement import agreement


def test_confusion_table_has_rows_of_the_first_judge() -> None:
    table = confusion_table(
        [0, 0, 0, 0, 2, 2], [0, 0, 0, 1, 2, 0], clusters=range(6), grades=range(4), draws=99
    )

    assert list(table.grades) == [0, 1, 2, 3]
    assert list(table.counts) == [(3, 1, 0, 0), (0, 0, 0, 0), (1, 0, 1, 0), (0, 0, 0, 0)]
    assert list(table.shares[0]) == [0.75, 0.25, 0.0, 0.0]
    assert list(table.shares[1]) == [None] * 4
    # Without dependent labels this is the exact binomial interval.
    exact = stats.binomtest(3, 4).proportion_ci(method="exact")
    assert table.intervals[0][0].method == "clopper-pearson"
    assert table.intervals[0][0].low == pytest.approx(exact.low)
    assert table.intervals[1][0] == Interval(None, None, 0.95, "none")


def test_confusion_intervals_resample_queries() -> None:
    rng = np.random.default_rng(0)
    second = np.repeat(rng.integers(0, 2, 50), 4)
    table = confusion_table([1] * 200, second, clusters=np.repeat(np.arange(50), 4), draws=499)

    assert table.intervals[1][0].method.startswith("cluster ")


def test_binary_agreement_by_hand() -> None:
    people, model = [0, 0, 1, 2, 3, 3], [0, 1, 1, 3, 0, 2]
    agreed = binary_agreement(people, model, clusters=range(6), draws=99)

    # Relevant: people 4, the model 4, both 3; neither 1.
    assert (agreed.share, agreed.precision, agreed.recall) == (4 / 6, 3 / 4, 3 / 4)
    assert agreed.kappa == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))
    strict = binary_agreement(people, model, clusters=range(6), relevant=2, draws=99)
    assert (strict.level, strict.share, strict.recall) == (2, 5 / 6, 2 / 3)
    nothing = binary_agreement([0, 0], [0, 0], clusters=range(2), draws=99)
    assert (nothing.kappa, nothing.precision, nothing.recall) == (None, None, None)


def test_units_that_a_precision_needs() -> None:
    interval = Interval(0.3, 0.5, 0.95, "bca")

    assert further_units(interval, 118, half_width=0.05) == 354
    assert further_units(interval, 118, half_width=0.2) == 0
    assert further_units(Interval(None, None, 0.95, "none"), 3, half_width=0.1) is None
    assert further_units(Interval(0.9, 1.0, 0.95, "constant"), 3, half_width=0.1) is None
    with pytest.raises(InputError, match="half-width 0 is not above 0"):
        further_units(interval, 3, half_width=0)


def test_the_estimate_of_units_holds() -> None:
    rng = np.random.default_rng(11)

    def half_width(queries: int) -> tuple[Interval, float]:
        first, random = rng.integers(0, 4, (2, queries, 5))
        second = np.where(rng.random((queries, 5)) < 0.6, first, random)
        query = np.repeat(np.arange(queries), 5)
        interval = agreement(first.ravel(), second.ravel(), clusters=query, draws=499).interval
        assert interval.low is not None
        assert interval.high is not None
        return interval, (interval.high - interval.low) / 2

    now, _ = half_width(60)
    further = further_units(now, 60, half_width=0.05)
    assert further is not None
    _, reached = half_width(60 + further)
    assert reached == pytest.approx(0.05, rel=0.25)


def test_a_reference_with_one_grade_has_no_kappa() -> None:
    # By the formula, kappa is 0 whether the second judge is right on one hit or on all but one.
    agreed = binary_agreement([1] * 20, [1] * 19 + [0], clusters=range(20), draws=99)
    assert (agreed.kappa, agreed.share) == (None, 0.95)
