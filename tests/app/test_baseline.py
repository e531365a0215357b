"""The file of a baseline comes back as it was, and a damaged one says what is wrong with it."""

import json
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import pytest

from karat.app.baseline import read_baseline, write_baseline
from karat.errors import FormatError
from karat.model.gate import Baseline, BaselineQuery

BASELINE = Baseline(
    name="bm25",
    gold="gold.json",
    gold_digest="ab" * 32,
    made_at="2026-05-01 12:00 UTC",
    version="1.0",
    settings={"match": "exact", "depth": None},
    means={"mrr": 0.75},
    queries=(
        BaselineQuery("q1", "aa", 2, {"mrr": 0.5}, hits=7),
        BaselineQuery("q2", "bb", 1, {"mrr": 1.0}),
        BaselineQuery("q3", "cc", None, {"mrr": 0.0}),
    ),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_baseline(BASELINE, tmp_path / "b.json")
    assert read_baseline(tmp_path / "b.json") == BASELINE


@pytest.mark.parametrize("identical", [True, False])
def test_facts_about_the_run_come_back(tmp_path: Path, identical: bool) -> None:
    known = replace(BASELINE, deterministic=identical, sample_of=9, notes=("a note",), missing=1)
    write_baseline(known, tmp_path / "b.json")
    assert read_baseline(tmp_path / "b.json") == known


def test_a_query_is_a_line(tmp_path: Path) -> None:
    write_baseline(BASELINE, tmp_path / "b.json")
    lines = (tmp_path / "b.json").read_text(encoding="utf-8").splitlines()
    assert '    {"id": "q2", "digest": "bb", "rank": 1, "scores": {"mrr": 1.0}},' in lines


def test_what_is_not_scored_is_null(tmp_path: Path) -> None:
    query = BaselineQuery("q1", "aa", None, {"mrr": nan})
    write_baseline(Baseline(*("x",) * 5, {}, {"mrr": nan}, (query,)), tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text())["queries"][0]["scores"] == {"mrr": None}
    assert isnan(read_baseline(tmp_path / "b.json").queries[0].scores["mrr"])


def test_another_file_is_no_baseline(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"test_cases": []}')
    with pytest.raises(FormatError, match="karat baseline update"):
        read_baseline(tmp_path / "b.json")


def test_all_problems_are_told_with_their_lines(tmp_path: Path) -> None:
    write_baseline(BASELINE, tmp_path / "b.json")
    text = (tmp_path / "b.json").read_text()
    text = text.replace('"version": 1', '"version": 9').replace('"id": "q2"', '"id": "q1"')
    text = text.replace('"rank": 2', '"rank": "two"').replace('"made_at"', '"made"')
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_baseline(tmp_path / "b.json")
    message = str(caught.value)
    for problem in (
        "b.json:3: version: unknown version; expected 1",
        "'made_at' is missing",
        "unknown key; did you mean 'made_at'?",
        "b.json:17: queries[0].rank: expected a number, found text",
        "b.json:18: queries[1]: id 'q1' appears more than once",
    ):
        assert problem in message
