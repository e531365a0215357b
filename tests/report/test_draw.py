"""One report in six formats."""

import csv
import io
import json

import pytest

from karat.errors import InputError
from karat.report.draw import FORMATS, draw
from karat.report.findings import Findings


@pytest.mark.parametrize("suffix", list(FORMATS))
def test_every_format_draws_one_run_and_several(
    suffix: str, findings: Findings, alone: Findings
) -> None:
    for each in (findings, alone):
        assert "old" in draw(each, f"report{suffix.upper()}")


def test_an_unknown_suffix_is_refused(findings: Findings) -> None:
    with pytest.raises(InputError, match=r"report\.pdf: .* expected \.html, \.md"):
        draw(findings, "report.pdf")


def test_json_holds_what_the_page_shows(findings: Findings) -> None:
    data = json.loads(draw(findings, "report.json"))
    assert [run["name"] for run in data["runs"]] == ["old", "new"]
    assert data["recommendations"][0]["run"] == "new"
    assert data["targets"]["old"] == {
        "found": 3,
        "below_k": 1,
        "not_retrieved": 0,
        "unanswered": 1,
    }
    assert data["not_comparable"] == []
    assert data["latency"]["metrics"] == ["latency"]
    assert data["origin"]["gold_digest"] == "d1"
    assert data["curves"][0]["metric"] == "mrr"


def test_csv_has_a_row_per_run_and_query(findings: Findings) -> None:
    rows = list(csv.DictReader(io.StringIO(draw(findings, "report.csv"))))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3", "q4"] * 2
    assert rows[3]["status"] == "error"


def test_markdown_and_text_have_the_tables_of_the_page(findings: Findings) -> None:
    titles = ("Leaderboard", "Recommendations", "mrr@10 by category", "Relevant targets", "Method")
    for name in ("report.md", "report.txt"):
        drawn = draw(findings, name)
        places = [drawn.index(title) for title in titles]
        assert places == sorted(places)


def test_latex_is_a_booktabs_table(findings: Findings) -> None:
    drawn = draw(findings, "report.tex")
    assert drawn.count(r"\toprule") == drawn.count(r"\bottomrule") == 2
    assert drawn.count(r"\begin{tabular}") == drawn.count(r"\end{tabular}") == 2
    rows = [line for line in drawn.splitlines() if line.endswith(r"\\")]
    head, *body = rows[:3]
    assert {row.count("&") for row in body} == {head.count("&")}


def test_markdown_begins_with_what_it_is_about(findings: Findings) -> None:
    title, _, about, *_ = draw(findings, "report.md").split("\n")
    assert (title, about) == ("# small", "4 queries, 2 runs, baseline old. 2026-01-02 03:04 UTC")
