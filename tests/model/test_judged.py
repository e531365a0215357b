"""What a metric may ask of a judged query."""

from array import array

import pytest

from karat.model import Credits, JudgedQuery, JudgedRun, QueryStatus, ScoreTable

QUERY = JudgedQuery([1, 3, 4, 7], [0, 2, -1, 1], ideal=[2, 1, 1, 0, -1], retrieved=9)


@pytest.mark.parametrize(
    ("level", "ranks", "count"),
    [(0.0, [3, 7], 3), (0.5, [3, 7], 3), (1.0, [3, 7], 3), (1.5, [3], 1), (2, [3], 1), (3, [], 0)],
)
def test_a_level_is_the_lowest_relevant_grade(level: float, ranks: list[int], count: int) -> None:
    assert QUERY.relevant(level) == ranks
    assert QUERY.found(level) == ranks
    assert QUERY.relevant_count(level) == count


def test_every_judgment_may_be_relevant() -> None:
    assert JudgedQuery([], [], ideal=[2, 1], retrieved=0).relevant_count() == 2


def test_targets_found_differ_from_relevant_hits_where_one_hit_covers_two() -> None:
    query = JudgedQuery([1], [2], ideal=[2, 1], retrieved=1, found=([1, 1], [1, 2]))
    assert query.relevant() == [1]
    assert query.found() == [1, 1]
    assert query.found(2) == [1]


def test_credits_belong_to_entries_and_to_targets() -> None:
    known = {1.0: Credits([0.5, 1.0], [1.0, 0.5]), 2.0: Credits([0.5, 0.0], [0.5])}
    query = JudgedQuery([1, 2], [1, 1], ideal=[2, 1], retrieved=2, credits=known)
    assert query.credits() == query.credits(0.5) == query.credits(1.0) == known[1.0]
    assert query.credits(1.5) == query.credits(2.0) == known[2.0]
    assert query.credits(3.0) == ([0.0, 0.0], [])
    assert QUERY.credits() is None


def test_a_run_counts_the_queries_that_ties_decide() -> None:
    tied = JudgedQuery([1], [1], ideal=[1], retrieved=2, tied=True)
    scored = QueryStatus.SCORED
    run = JudgedRun("r", ("a", "b", "c"), (tied, QUERY, tied), (scored, scored, scored), "trec10")
    assert run.tied == 2


def test_a_table_counts_its_statuses() -> None:
    statuses = (QueryStatus.SCORED, QueryStatus.ERROR, QueryStatus.SCORED)
    table = ScoreTable("r", ("a", "b", "c"), statuses, {"mrr": array("d", [1.0, 0.0, 0.5])})
    assert [table.count(status) for status in QueryStatus] == [2, 0, 1, 0, 0]
