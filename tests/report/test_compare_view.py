"""The rows of several runs compared."""

from collections.abc import Mapping

import pytest

from karat.api import compare
from karat.model.evaluation import ComparisonResult
from karat.report import table as markdown
from karat.report import text
from karat.report.compare_view import compare_table, per_query_table, slice_tables

QUERIES = [f"q{number:02}" for number in range(20)]
GOLD = {query: {"a.py": 1.0} for query in QUERIES}

Scores = Mapping[str, Mapping[str, float]]


def at_rank(*ranks: int) -> Scores:
    """Return a run with the target at these ranks in turn."""
    return {
        query: {f"x{above}": 99.0 - above for above in range(ranks[index % len(ranks)] - 1)}
        | {"a.py": 1.0}
        for index, query in enumerate(QUERIES)
    }


@pytest.fixture(scope="module")
def contest() -> ComparisonResult:
    """Return a clear winner, a clear loser, and one that is like the loser."""
    runs = {"base": at_rank(4, 5), "same": at_rank(5, 4), "best": at_rank(1, 1, 2)}
    return compare(GOLD, runs, ["mrr", "hit@10"], draws=999, by=["file-type"])


def test_rows_are_exact(contest: ComparisonResult) -> None:
    table = compare_table(contest)
    assert table.title == "same, best against base, 20 queries"
    base, same, best = table.rows[:3]
    assert [cell.text for cell in base[:3]] == ["mrr", "a base", "0.225"]
    assert [cell.text for cell in base[4:]] == ["baseline", "", "", "", "-"]
    assert (same[0].text, same[1].text, same[4].text, same[7].text) == (
        *("", "b same", "0.000", "10/0/10"),
    )
    # Ranks 1, 1, 2 in turn over 20 queries: 14 times 1 and 6 times 1/2.
    assert best[2].value == pytest.approx((14 + 6 / 2) / 20)
    assert [cell.text for cell in best[6:]] == ["0.001", "20/0/0", "ab"]


def test_the_best_is_marked_only_where_every_other_is_significantly_worse(
    contest: ComparisonResult,
) -> None:
    rows = compare_table(contest).rows
    assert [row[2].best for row in rows] == [False, False, True, False, False, False]
    without = compare(GOLD, {"base": at_rank(4, 5), "same": at_rank(5, 4)}, ["mrr"], draws=199)
    table = compare_table(without)
    assert not any(cell.best for row in table.rows for cell in row)
    assert not any("*" in note for note in table.notes)


def test_two_that_share_the_lead_are_both_unmarked() -> None:
    runs = {"base": at_rank(5), "one": at_rank(1, 2), "two": at_rank(2, 1)}
    table = compare_table(compare(GOLD, runs, ["mrr"], draws=999))
    assert [row[-1].text for row in table.rows] == ["-", "a", "a"]
    assert not any(row[2].best for row in table.rows)


def test_the_verdict_is_the_conclusion(contest: ComparisonResult) -> None:
    table = compare_table(contest)
    assert table.conclusion == contest.verdict
    assert "best has the highest mrr, 0.850, and is better than" in table.conclusion


def test_each_detail_of_a_verdict_is_a_sentence() -> None:
    runs = {"base": at_rank(4, 5), "best": at_rank(1, 1, 2)}
    contest = compare(GOLD, runs, ["mrr", "hit@1"], draws=999)
    table = compare_table(contest)
    detail = "It is also better on hit@1."
    assert f"\n{detail}\n" in text.text_table(table)
    assert f"**\n\n{detail}\n" in markdown.markdown_table(table)
    assert f"</strong> {detail}</p>" in contest._repr_html_()


def test_notes_name_the_method_and_each_run(contest: ComparisonResult) -> None:
    notes = compare_table(contest).notes
    assert notes[0] == (
        "p: paired randomisation, corrected by step-down maxT over all pairs; "
        "intervals: bootstrap-t, 999 draws, seed 0; * significantly better than all others"
    )
    assert notes[1] == "every run: 20 queries: 0 missing, 0 errors, 0 timeouts, 0 invalid hits"
    assert notes[2].startswith("judged among the first 10 hits: base ")
    assert all(f"{name} " in notes[2] for name in ("base", "same", "best"))


def test_notes_say_which_intervals_need_no_draws() -> None:
    gold = {f"q{index:03}": {f"d{index}": 1} for index in range(300)}
    deep = [{"x": 2.0, document: 1.0} for (document,) in gold.values()]
    first = [{document: 1.0} for (document,) in gold.values()]
    runs = {
        # Half of the queries at rank 1, and 30 of them: both have two values.
        "half": dict(zip(gold, first[:150] + deep[150:], strict=True)),
        "few": dict(zip(gold, deep[:270] + first[270:], strict=True)),
    }
    notes = compare_table(compare(gold, runs, ["mrr"], draws=199)).notes
    assert "intervals: bootstrap-t, analytic;" in notes[0]
    # One query at a third rank: means of three values, one of them rare.
    runs["few"]["q000"] = {"x": 3.0, "y": 2.0, "d0": 1.0}
    runs["half"]["q001"] = {"x": 3.0, "y": 2.0, "d1": 1.0}
    notes = compare_table(compare(gold, runs, ["mrr"], draws=199)).notes
    assert "intervals: bootstrap-t, analytic, otherwise 199 draws, seed 0" in notes[0]


def test_the_mean_over_answered_queries_is_told_where_it_differs() -> None:
    half = {query: hits for index, (query, hits) in enumerate(at_rank(1).items()) if index % 2}
    notes = compare_table(compare(GOLD, {"all": at_rank(2), "half": half}, ["mrr"])).notes
    assert "half: 10 queries of the gold set missing from the run: q00, q02, q04, ..." in notes
    assert "half: over answered queries only, the mean of mrr is 1.000" in notes
    assert not any(note.startswith("all: over answered") for note in notes)


def test_a_slice_has_a_table_of_the_first_measure(contest: ComparisonResult) -> None:
    (table,) = slice_tables(contest)
    assert table.title == "file-type = .py, 20 queries"
    assert [row[0].value for row in table.rows] == ["mrr"] * 3


def test_a_slice_of_one_query_is_counted_in_the_singular() -> None:
    gold = GOLD | {"z": {"b.rs": 1.0}}
    runs = {"old": at_rank(1), "new": at_rank(2)}
    tables = slice_tables(compare(gold, runs, ["mrr"], draws=99, by=["file-type"]))
    assert tables[1].title == "file-type = .rs, 1 query"


def test_queries_that_lost_most_come_first(contest: ComparisonResult) -> None:
    table = per_query_table(contest, {"q00": "the first"}, "mrr")
    changes = [row[-2].value for row in table.rows]
    assert changes == sorted(changes, key=lambda change: float(change or 0))
    assert [column.title for column in table.columns] == [
        *("query", "base", "same", "best", "change", "text"),
    ]
    assert {row[0].text: row[-1].text for row in table.rows}["q00"] == "the first"


def test_a_measure_that_a_run_has_no_score_on_counts_no_ties() -> None:
    # The runs tell no lines, so that how many they return is unknown.
    runs = {"base": at_rank(1), "other": at_rank(2)}
    _, other = compare_table(compare(GOLD, runs, ["lines@10"], draws=99)).rows
    assert [cell.text for cell in other[2:8]] == ["-"] * 6
