"""Preferences, reference scores, and the name of a run."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.extensions.trec_eval.files import TAIL_BYTES, last_tag, read_preferences, read_zscores


def test_preferences(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    path.write_text("q 1 x a 2.5\nq 1 x b 0\nq 1 y a 1\n", encoding="utf-8")
    assert read_preferences(path) == {"q": {"1": {"x": {"a": 2.5, "b": 0.0}, "y": {"a": 1.0}}}}


def test_every_problem_of_preferences_at_once(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    path.write_text("q 1 x a 1\nq 1 x a 2\nq 1 x b -1\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_preferences(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3]
    assert "below 0" in caught.value.problems[1].message


def test_no_preferences(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(FormatError, match="expected 5 fields"):
        read_preferences(path)


def test_reference_scores(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_text("q map 0.5 0.25\nq P_5 0 0\n", encoding="utf-8")
    assert read_zscores(path) == {("q", "map"): (0.5, 0.25), ("q", "P_5"): (0.0, 0.0)}


def test_bad_reference_scores(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_text("q map 0.5 0.25\nq map 1 1\nq x y 1\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_zscores(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(FormatError, match="no reference score"):
        read_zscores(path)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("q Q0 a 1 1 old\nq Q0 b 2 1 new junk\n", "new"),
        ("q Q0 a 1 1 old\n# q Q0 b 2 1 comment\n\n", "old"),
        ("# only\n", ""),
        ("q Q0 a 1 1 early\n" + "#\n" * TAIL_BYTES, "early"),
        ("q Q0 a 1 1 early\n" + "q Q0 b 1 1 late\n" * TAIL_BYTES, "late"),
    ],
)
def test_a_run_is_named_by_its_last_row(tmp_path: Path, text: str, tag: str) -> None:
    path = tmp_path / "run"
    path.write_text(text, encoding="utf-8")
    assert last_tag(path) == tag
