"""The rows of one scored run, on a set that can be worked by hand."""

from math import isnan

import pytest

from karat.api import evaluate
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.evaluation import Evaluation
from karat.report.score_view import note_lines, per_query_table, score_table, slice_tables
from karat.report.text import text_table

GOLD = Dataset.of(
    [
        Query("q1", "find a and b", (Target("a", 2.0), Target("b", 1.0)), {"kind": "both"}),
        Query("q2", "find c", (Target("c", 1.0),), {"kind": "one"}),
        Query("q3", "find d", (Target("d", 1.0),), {"kind": "one"}),
        Query("q4", "find e", (Target("e", 1.0),), {"kind": "one"}),
        Query("q5", "find f", (Target("f", 1.0),), {"kind": "one"}),
        Query("q6", "find nothing", (Target("z", 0.0),), {"kind": "one"}),
    ]
)
# q1: x, then a and b tied; q2 at rank 1 among broken hits; q3 error, q4 timeout, q5 missing.
RUN = Run.of(
    [
        Answer("q1", (Hit("x", 3.0), Hit("a", 2.0), Hit("b", 2.0))),
        Answer(
            "q2",
            (
                Hit("c", 3.0),
                Hit("c", 2.0),
                Hit("y", 2.0, 9, 3),
                Hit("y", 2.0, 0, 3),
                Hit("w", float("inf")),
            ),
        ),
        Answer("q3", outcome=Outcome.ERROR),
        Answer("q4", outcome=Outcome.TIMEOUT),
        Answer("q6", (Hit("z", 1.0),)),
        *(Answer(f"other{number}", (Hit("a", 1.0),)) for number in range(4)),
    ],
    name="tiny",
)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(GOLD, RUN, ["mrr", "recall@10", "precision@5"], confidence=None, by=["kind"])


def test_rows_are_exact(evaluation: Evaluation) -> None:
    table = score_table(evaluation)
    assert table.title == "tiny, 6 queries"
    assert [column.title for column in table.columns] == [
        *("measure", "mean", "mean answered", "n"),
    ]
    # Five queries count, two are answered: mrr (1/2 + 1) / 5, precision@5 (2/5 + 1/5) / 5.
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["mrr", pytest.approx(1.5 / 5), pytest.approx(1.5 / 2), 5],
        ["recall@10", pytest.approx(2 / 5), 1.0, 5],
        ["precision@5", pytest.approx(0.6 / 5), pytest.approx(0.3), 5],
    ]


def test_notes_say_all_that_is_behind_the_numbers(evaluation: Evaluation) -> None:
    assert list(note_lines(evaluation)) == [
        "6 queries: 1 missing, 1 error, 1 timeout (each counts 0), 4 invalid hits left out "
        "(1 duplicate, 1 end before start, 1 line below 1, 1 non-finite score); "
        "83% of the first 10 hits are judged (unjudged hits count as not relevant)",
        "1 query of the gold set missing from the run: q5",
        "4 queries of the run missing from the gold set: other0, other1, other2, ...",
        "1 query without a relevant target: left out of the means",
        "in 1 query equal scores decide the rank of a hit that counts (rule: trec10); --ties order "
        "keeps the order of the run",
    ]


def test_the_text_of_the_tiny_set(evaluation: Evaluation) -> None:
    assert text_table(score_table(evaluation)) == (
        "tiny, 6 queries\n"
        "\n"
        "measure        mean  mean answered  n\n"
        "-----------  ------  -------------  -\n"
        "mrr          0.3000         0.7500  5\n"
        "recall@10    0.4000         1.0000  5\n"
        "precision@5  0.1200         0.3000  5\n"
        "\n"
        "6 queries: 1 missing, 1 error, 1 timeout (each counts 0), 4 invalid hits left out "
        "(1 duplicate, 1\n"
        "  end before start, 1 line below 1, 1 non-finite score); 83% of the first 10 hits are "
        "judged\n"
        "  (unjudged hits count as not relevant)\n"
        "1 query of the gold set missing from the run: q5\n"
        "4 queries of the run missing from the gold set: other0, other1, other2, ...\n"
        "1 query without a relevant target: left out of the means\n"
        "in 1 query equal scores decide the rank of a hit that counts (rule: trec10); --ties order "
        "keeps the\n"
        "  order of the run\n"
    )


def test_a_clean_run_has_one_note() -> None:
    clean = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["mrr"], confidence=None)
    assert list(note_lines(clean)) == [
        "1 query: 0 missing, 0 errors, 0 timeouts, 0 invalid hits; "
        "100% of the first 10 hits are judged"
    ]


def test_no_hit_at_all_has_no_judged_share() -> None:
    empty = evaluate({"q": {"a": 1}}, {"q": {}}, ["mrr"], confidence=None)
    assert isnan(empty.notes.judged_share)
    assert "judged" not in next(note_lines(empty))


def test_slices_have_their_own_rows(evaluation: Evaluation) -> None:
    both, one = slice_tables(evaluation)
    assert (both.title, one.title) == ("kind = both", "kind = one")
    assert [cell.value for cell in both.rows[0]] == ["mrr", 0.5, 0.5, 1]
    assert [cell.value for cell in one.rows[0]] == ["mrr", 0.25, 1.0, 4]


def test_each_query_has_its_status_and_text(evaluation: Evaluation) -> None:
    rows = per_query_table(evaluation, {"q1": "find a and b" * 9}).rows
    assert [row[1].text for row in rows] == [
        *("scored", "scored", "error", "timeout", "missing", "unjudged"),
    ]
    assert [row[2].text for row in rows] == ["0.5000", "1.0000", "0.0000", "0.0000", "0.0000", "-"]
    assert rows[0][-1].text.endswith("...")
    assert rows[0][-1].value == "find a and b" * 9
    assert rows[1][-1].text == ""


@pytest.mark.usefixtures("other_averages")
def test_an_interval_stands_in_its_own_column() -> None:
    gold = {f"q{number}": {"a": 1} for number in range(6)}
    run = {query: {"a": 1.0} if query > "q2" else {"b": 1.0} for query in gold}
    sure = evaluate(gold, run, ["hit@5", "geometric"], confidence=0.9, draws=199)
    table = score_table(sure)
    assert table.columns[2].title == "90% interval"
    interval = sure.summaries[0].interval
    assert interval is not None
    assert table.rows[0][2].text == f"[{interval.low:.4f}, {interval.high:.4f}]"
    # A geometric mean has no interval.
    assert table.rows[1][2].text == "-"


def test_a_mean_over_answered_queries_is_shown_only_where_it_differs() -> None:
    every = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["mrr"], confidence=None)
    assert [column.title for column in score_table(every).columns] == ["measure", "mean", "n"]
    assert [cell.text for cell in score_table(every).rows[0]] == ["mrr", "1.0000", "1"]


def test_a_measure_that_no_query_has_is_a_dash() -> None:
    unscored = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, ["mrr"], confidence=None)
    assert [cell.text for cell in score_table(unscored).rows[0]] == ["mrr", "-", "0"]
    assert isnan(unscored["mrr"])
