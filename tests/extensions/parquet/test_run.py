import sys
from pathlib import Path

import pytest

from karat.errors import FormatError, InputError, MissingExtra
from karat.formats import detect, read_run, write
from karat.model import Answer, Hit, Run

pl = pytest.importorskip("polars")


def test_rank_decides_then_the_score(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    frame = pl.DataFrame(
        {
            "query_id": ["b", "b", "a", "b"],
            "path": ["x", "y", "z", "w"],
            "score": [1.0, 2.0, 3.0, 9.0],
            "rank": [2, 1, 1, 3],
        }
    )
    frame.write_parquet(path)
    assert detect(path).name == "parquet"
    run = read_run(path)
    assert run.query_ids == ("b", "a")
    assert [hit.path for hit in run.answer(0).hits] == ["y", "x", "w"]
    frame.drop("rank").write_parquet(path)
    assert [hit.path for hit in read_run(path).answer(0).hits] == ["w", "y", "x"]
    frame.select("query_id", "path").write_parquet(path)
    assert [hit.path for hit in read_run(path).answer(0).hits] == ["x", "y", "w"]


def test_every_bad_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pl.DataFrame(
        {
            "query_id": ["a"] * 3,
            "path": ["x", "", "y"],
            "score": [float("nan"), 1.0, 1.0],
            "start_line": [None, None, 5],
            "end_line": [None, None, 2**31],
        }
    ).write_parquet(path)
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [problem.message for problem in caught.value.problems] == [
        "row 1: score nan is not finite",
        "row 2: the path is empty",
        "row 3: lines 5 to 2147483648 are out of range",
    ]


def test_a_range_that_makes_no_sense_is_kept_for_judging(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pl.DataFrame(
        {"query_id": ["a", "a"], "path": ["y", "z"], "start_line": [5, None], "end_line": [4, 3]}
    ).write_parquet(path)
    hits = read_run(path).answer(0).hits
    assert [(hit.start_line, hit.end_line) for hit in hits] == [(5, 4), (0, 3)]


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(FormatError, match="not Parquet"):
        read_run(path)
    pl.DataFrame({"query_id": ["a"]}).write_parquet(path)
    with pytest.raises(FormatError, match="no column path"):
        read_run(path)
    pl.DataFrame({"query_id": ["a", None], "path": ["x", "y"]}).write_parquet(path)
    with pytest.raises(FormatError, match="row 2: no query_id"):
        read_run(path)
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "absent.parquet", format="parquet")


def test_without_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    run = Run.of([Answer("q", (Hit("a"),))])
    with pytest.raises(MissingExtra, match=r"needs the extra big: pip install .*\[big\]'"):
        write(run, tmp_path / "r.parquet")
