"""Files with several judges."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats.trec_qrels import read_panel


def test_a_panel(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("# by two\nq 1 a 2\nq\t2  a 0\n\nr 1 b -1", encoding="utf-8")
    assert read_panel(path) == {"q": {"1": {"a": 2.0}, "2": {"a": 0.0}}, "r": {"1": {"b": -1.0}}}


def test_every_problem_of_a_panel_at_once(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q 1 a 1\nq 1 a 0\nq 1 b x\nq 1 c\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_panel(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "'1' judges 'a' twice for query 'q'"),
        (3, "grade 'x' is not a finite number"),
        (4, "3 fields; expected 4"),
    ]


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(FormatError, match="expected 4 fields"):
        read_panel(path)
