"""Rank intervals, groups of tied systems and Borda shares."""

from math import nan

import numpy as np
import pytest

from karat.extensions.scores.leaderboard import (
    BORDA,
    borda,
    borda_comparison,
    leaderboard_table,
    rank_rows,
)
from karat.model.comparison import Comparison
from karat.scoring.settings import Confidence
from karat.scoring.stats import compare


def compared(
    *levels: float, queries: int = 60, lower: bool = False, **options: object
) -> Comparison:
    """Return systems whose scores lie around *levels*, with little noise."""
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 0.05, (len(levels), queries, 1))
    return compare(
        np.array(levels)[:, None, None] + noise,
        systems=[f"s{number}" for number in range(len(levels))],
        metrics=["m"],
        draws=999,
        lower_is_better=["m"] if lower else [],
        **options,  # type: ignore[arg-type] # of the test
    )


def test_ranks_of_two_ties() -> None:
    rows = rank_rows(compared(0.2, 0.8, 0.5, 0.8, 0.2), "m")
    by_name = {row.system: row for row in rows}
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5]
    assert {row.system for row in rows[:2]} == {"s1", "s3"}
    assert (by_name["s1"].best, by_name["s1"].worst) == (1, 2)
    assert (by_name["s2"].best, by_name["s2"].worst) == (3, 3)
    assert (by_name["s4"].best, by_name["s4"].worst) == (4, 5)
    assert [by_name[f"s{n}"].group for n in range(5)] == [3, 1, 2, 1, 3]


def test_less_may_be_better() -> None:
    rows = rank_rows(compared(0.2, 0.8, lower=True), "m")
    assert [row.system for row in rows] == ["s0", "s1"]


def test_no_ranks_without_all_pairs() -> None:
    assert rank_rows(compared(0.2, 0.5, 0.8, pairs="baseline"), "m") == ()
    assert leaderboard_table(compared(0.2, 0.5, 0.8, pairs="baseline"), "m") is None


def test_rank_intervals_hold_the_true_ranks() -> None:
    # 40 systems in steps far below the noise: the true rank lies in each of the intervals.
    levels = [number / 400 for number in range(40)]
    rows = rank_rows(compared(*levels, queries=30), "m")
    for row in rows:
        true = 40 - int(row.system[1:])
        assert row.best <= true <= row.worst
    assert sum(row.worst - row.best for row in rows) > 100


def test_a_table_of_many_systems_has_the_first_rows_and_says_so() -> None:
    comparison = compared(*(number / 50 for number in range(30)))
    table = leaderboard_table(comparison, "m", most=20)
    assert table is not None
    assert len(table.rows) == 20
    assert table.rows[0][3].text == "s29"
    assert "10 more systems" in table.notes[-1]
    assert "all intervals hold at once with 95%" in table.notes[1]
    loose = leaderboard_table(compared(0.2, 0.8, correction="bh"), "m")
    assert loose is not None
    assert "hold one by one" in loose.notes[1]


def test_borda_counts_are_those_of_ranks() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).integers(0, 6, (9, 14)).astype(float)
    ranks = stats.rankdata(values, axis=0)
    assert np.allclose(borda(values.tolist()), (ranks - 1) / 8)


def test_borda_of_a_task_that_a_system_lacks() -> None:
    shares = borda([[0.9, nan], [0.5, 0.1], [0.7, 0.3]])
    assert shares[0][0] == 1.0
    assert np.isnan(shares[0][1])
    assert shares[2][1] == 1.0


def test_borda_and_mean_may_rank_differently() -> None:
    # One task with huge scores decides the mean; the other system wins all others.
    means = {
        "wide": {"t0": 100.0, **{f"t{n}": 0.1 for n in range(1, 12)}},
        "often": {"t0": 0.0, **{f"t{n}": 0.2 for n in range(1, 12)}},
    }
    comparison = borda_comparison(means, Confidence(draws=999), lower=False)
    first, second = rank_rows(comparison, BORDA)
    assert (first.system, second.system) == ("often", "wide")
    assert first.mean == pytest.approx(11 / 12)
    assert second.group == 2
