"""Score files become scored systems, and are told from gold sets and runs."""

from math import isnan
from pathlib import Path

import pytest

from karat.app.score_files import ScoreInputs, compare_scores, read_score_files, score_findings
from karat.errors import InputError
from karat.model import QueryStatus
from karat.report.draw import draw
from karat.scoring.settings import Confidence

ROWS = [
    ("q1", "a", "1", "0.5", ""),
    ("q1", "b", "0", "1.5", ""),
    ("q2", "a", "1", "-1", ""),
    ("q2", "b", "", "", "timeout"),
    ("q3", "a", "0", "2", ""),
]
SCORES = "query,system,passed,gain,error\n" + "\n".join(map(",".join, ROWS))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def test_failures_count_zero_where_zero_is_the_worst(scores: Path) -> None:
    scored = read_score_files([str(scores)], ScoreInputs())
    assert scored is not None
    a, b = scored.evaluations
    assert a["passed"] == pytest.approx(2 / 3)
    assert b.table.statuses == (QueryStatus.SCORED, QueryStatus.ERROR, QueryStatus.MISSING)
    assert b.per_query("passed")["q2"] == 0.0
    assert isnan(b.per_query("passed")["q3"])
    # A gain may be negative: a failure is not the mean of good and bad.
    assert isnan(b.per_query("gain")["q2"])
    assert b["passed"] == 0.0
    assert [measure.bounds for measure in scored.measures] == [
        (0.0, 1.0),
        (float("-inf"), float("inf")),
    ]


def test_measures_are_chosen_and_ordered(scores: Path) -> None:
    scored = read_score_files([str(scores)], ScoreInputs(measures=("gain, passed",)))
    assert scored is not None
    assert list(map(str, scored.measures)) == ["gain", "passed"]
    with pytest.raises(InputError, match="no measure is called 'f1'; expected one of passed and"):
        read_score_files([str(scores)], ScoreInputs(measures=("f1",)))


def test_a_difference_is_that_of_the_pairs_that_both_have(scores: Path) -> None:
    scored = read_score_files([str(scores)], ScoreInputs())
    assert scored is not None
    contest = compare_scores(scored).contest
    entry = contest.comparison.difference("a", "b", "passed")
    assert (entry.n, entry.difference) == (2, -1.0)
    assert contest["a"]["gain"] == 0.5


def test_one_system_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("query,system,score\nq1,a,1\nq2,a,0\n")
    scored = read_score_files([str(path)], ScoreInputs())
    assert scored is not None
    assert scored.one().name == scored.one("a").name == "a"
    with pytest.raises(InputError, match=r"one\.csv: only one system, 'a'; expected two or more"):
        compare_scores(scored)
    with pytest.raises(InputError, match="has no system 'x'; expected one of 'a'"):
        scored.one("x")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.csv", "question,document\nq,a.py\n"),
        ("run.csv", "query_id,document,score\nq,a.py,1\n"),
        ("qrels.txt", "q1 0 a.py 1\n"),
        ("gold.json", '{"queries": [{"id": "q", "text": "t", "targets": [{"path": "a"}]}]}'),
        ("a.run", "q1 Q0 a.py 1 2.0 bm25\n"),
    ],
)
def test_gold_sets_and_runs_are_no_scores(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_score_files([str(path)], ScoreInputs()) is None
    assert read_score_files([str(tmp_path / "absent.csv")], ScoreInputs()) is None


def test_a_report_has_no_part_about_hits(scores: Path) -> None:
    scored = read_score_files([str(scores)], ScoreInputs())
    assert scored is not None
    findings = score_findings(scored, confidence=Confidence(draws=99), title="Scores")
    text = draw(findings, "report.md")
    assert "# Scores" in text
    assert "| b b | 0.000 |" in text.replace(" \\[", " |")
    for words in ("first relevant hit", "Relevant targets", "Matching", "invalid hits"):
        assert words not in text
    page = draw(findings, "report.html")
    assert len(page) > 100_000
    assert '"lower_is_better"' not in page  # documents are packed
