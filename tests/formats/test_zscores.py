"""Reference scores, and the name of a run."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats.trec_qrels import read_zscores
from karat.formats.trec_run import TAIL_BYTES, last_tag


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
