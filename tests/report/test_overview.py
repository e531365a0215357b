"""The overview: what a command answers on one screen."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from karat.api import compare, evaluate
from karat.model.evaluation import ComparisonResult
from karat.report.overview import breakdown_tables, overview, verdict_of
from karat.report.rows import run_rows
from karat.report.table import marked
from karat.report.text import text_table

QUERIES = [f"q{number:02}" for number in range(20)]
GOLD = {query: {"a.py": 1.0} for query in QUERIES}
MEASURES = ["mrr", "hit@5", "recall@10", "precision@5", "ap", "ndcg@10"]

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
    return compare(GOLD, runs, MEASURES, draws=999, by=["file-type"])


def test_a_row_has_the_mean_of_each_measure_and_the_change_of_the_first(
    contest: ComparisonResult,
) -> None:
    base, same, best = run_rows(contest, {"best": 2.5})
    assert (base.is_baseline, base.change, base.median_ms) == (True, None, None)
    assert (best.best, best.median_ms, same.best) == (True, 2.5, False)
    assert [each.measure for each in best.summaries] == MEASURES
    # Ranks 1, 1, 2 in turn over 20 queries: 14 times 1 and 6 times 1/2.
    assert best.summaries[0].mean == pytest.approx((14 + 6 / 2) / 20)
    assert best.change is not None
    assert best.change.difference == pytest.approx(0.85 - 0.225)


def test_ranked_rows_begin_with_the_best(contest: ComparisonResult) -> None:
    names = [row.run for row in run_rows(contest, ranked=True)]
    assert names == ["best", "base", "same"]
    assert [row.run for row in run_rows(contest)] == ["base", "same", "best"]


def test_the_verdict_comes_first_then_the_runs(contest: ComparisonResult) -> None:
    table = overview(contest, medians_ms={"base": 12.0, "best": 0.5}, more="More: --details")
    lines = text_table(table, width=100).splitlines()
    assert lines[0].startswith("best has the highest mrr, 0.850, and is better than")
    assert "20 queries; change and p: against base" in lines
    heads = next(line for line in lines if line.startswith("run "))
    assert heads.split()[:6] == ["run", "mrr", "95%", "interval", "change", "p"]
    assert heads.endswith("p50 ms")
    row = lines[lines.index(heads) + 4]
    assert row.split()[:2] == ["best", "0.850*"]
    assert {"+0.625", "0.001", "0.500"} <= set(row.split())
    assert lines[-1] == "More: --details"


def test_one_screen_has_at_most_24_lines_of_100_columns(contest: ComparisonResult) -> None:
    table = overview(contest, medians_ms=dict.fromkeys(contest, 1.0), notes=["a note"] * 3)
    lines = text_table(table, width=100).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("width", [80, 60, 50])
def test_the_change_and_p_stay_in_a_narrow_terminal(contest: ComparisonResult, width: int) -> None:
    table = overview(contest, medians_ms=dict.fromkeys(contest, 1.0))
    lines = text_table(table, width=width).splitlines()
    heads = next(line for line in lines if line.startswith("run "))
    assert {"mrr", "change", "p"} <= set(heads.split())
    assert max(map(len, lines)) <= width
    _, _, hidden = " ".join(lines).partition(f"too wide for {width} columns, not shown: ")
    # The last measures go first.
    assert "ndcg@10" in hidden


def test_sentences_beyond_the_second_are_notes(contest: ComparisonResult) -> None:
    said = replace(contest, verdict="One. Two. Three. Four.")
    table = overview(said)
    assert (table.conclusion, table.notes[0]) == ("One. Two.", "Three. Four.")


def test_of_many_runs_the_best_and_the_baseline_are_listed() -> None:
    runs = {f"r{rank:02}": at_rank(rank) for rank in range(14, 0, -1)}
    table = overview(compare(GOLD, runs, ["mrr"], draws=99), ranked=True)
    names = [row[0].text for row in table.rows]
    assert names == [*(f"r{rank:02}" for rank in range(1, 11)), "r14"]
    assert "3 further runs have lower means" in table.notes


def test_one_run_has_a_sentence_and_no_change() -> None:
    table = overview(evaluate(GOLD, at_rank(1, 9), ["mrr", "hit@5"]))
    # Ranks 1 and 9 in turn: a mean of 5/9.
    assert table.conclusion.startswith("run1 has mrr 0.556 [")
    assert table.conclusion.endswith("] over 20 queries; 50% have a target among the first 5 hits.")
    assert [column.title for column in table.columns] == ["run", "mrr", "95% interval", "hit@5"]
    assert table.notes == ()


def test_the_share_of_first_hits_is_that_of_rank_1() -> None:
    table = overview(evaluate(GOLD, at_rank(1, 9), ["mrr", "hit@1"], draws=0))
    assert table.conclusion == "run1 has mrr 0.556 over 20 queries; 50% have a target at rank 1."


def test_a_run_without_intervals_or_hit_measures() -> None:
    table = overview(evaluate(GOLD, at_rank(2), ["mrr"], draws=0))
    assert table.conclusion == "run1 has mrr 0.500 over 20 queries."
    assert [column.title for column in table.columns] == ["run", "mrr"]


def test_only_notes_that_change_the_meaning_are_listed() -> None:
    answered = {query: hits for index, (query, hits) in enumerate(at_rank(1).items()) if index % 2}
    notes = overview(compare(GOLD, {"all": at_rank(2), "half": answered}, ["mrr"])).notes
    assert "half: 10 missing (each counts 0)" in notes
    assert not any("judged" in note or "draws" in note for note in notes)


def test_equal_scores_are_noted_where_they_matter() -> None:
    tied = {query: {"x.py": 1.0, "a.py": 1.0} for query in QUERIES}
    few = {**at_rank(1), "q00": tied["q00"]}
    many = {**at_rank(1), **{query: tied[query] for query in QUERIES[:2]}}
    assert not any("equal scores" in note for note in overview(evaluate(GOLD, few, ["mrr"])).notes)
    (note,) = overview(evaluate(GOLD, many, ["mrr"])).notes
    assert note.startswith("in 2 queries equal scores decide the rank of a hit that counts")


def test_a_broken_run_has_no_score() -> None:
    nothing = evaluate(GOLD, {query: {} for query in QUERIES}, ["mrr"])
    assert verdict_of(nothing).startswith("No verdict on run1: ")
    table = overview(nothing)
    assert [cell.text for cell in table.rows[0]] == ["run1", "-"]
    assert table.warnings


def test_each_value_of_a_tag_is_a_row(contest: ComparisonResult) -> None:
    (table,) = breakdown_tables(contest)
    assert table.title == "mrr by file-type"
    assert [column.title for column in table.columns] == [
        *("file-type", "queries", "base", "same", "best")
    ]
    (row,) = table.rows
    assert [cell.text for cell in row] == [".py", "20", "0.225", "0.225", "0.850▲"]
    assert table.notes == ("▲ ▼ significantly better or worse than base",)


def test_each_value_of_a_tag_of_one_run_has_all_measures() -> None:
    evaluation = evaluate(GOLD, at_rank(1, 2), ["mrr", "hit@1"], by=["file-type"])
    (table,) = breakdown_tables(evaluation)
    titles = [column.title for column in table.columns]
    assert titles == ["file-type", "queries", "mrr", "95% interval", "hit@1"]
    cells = [cell.text for cell in table.rows[0]]
    assert (cells[:3], cells[4]) == ([".py", "20", "0.750"], "0.500")


def test_doubtful_labels_mark_the_change_of_a_measure_that_uses_them(
    contest: ComparisonResult,
) -> None:
    rows = marked(overview(contest), "†").rows
    assert rows[2][1].text == "0.850†"
    assert rows[2][3].text == "+0.625†"
    lines = compare(GOLD, {"a": at_rank(1), "b": at_rank(2)}, ["lines@10", "mrr"], draws=99)
    table = marked(overview(lines), "†")
    titles = [column.title for column in table.columns]
    texts = [dict(zip(titles, (cell.text for cell in row), strict=True)) for row in table.rows]
    assert [each["mrr"] for each in texts] == ["1.000†", "0.500†"]
    assert not any("†" in each[title] for each in texts for title in ("lines@10", "change", "p"))
