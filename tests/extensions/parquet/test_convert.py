"""Conversion from and to Parquet, a part of the run at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from karat.app.convert import convert
from karat.errors import FormatError, InputError
from karat.formats import read_run, write
from karat.model import Answer, Hit, Run

pl = pytest.importorskip("polars")


def test_runs_are_converted_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.formats.trec_run.PART_HITS", 3)
    monkeypatch.setattr("karat.extensions.parquet.run.GROUP_ROWS", 3)
    rows = [f"q{q} Q0 d{d} {d} {-d / 3!r} bm25\n" for q in range(5) for d in range(1, 4)]
    text, table, back = (tmp_path / name for name in ("a.run", "b.parquet", "c.run"))
    text.write_text("".join(rows))
    done = convert(text, table)
    assert (done.source_format, done.target_format) == ("trec-run", "parquet")
    assert (done.source, done.queries, done.entries) == (str(text), 5, 15)
    assert pl.read_parquet(table)["rank"].to_list() == [1, 2, 3] * 5
    convert(table, back)
    assert back.read_text() == text.read_text().replace("bm25", "b.parquet")
    # Other formats still get the whole run.
    convert(table, tmp_path / "d.jsonl")
    assert list(read_run(tmp_path / "d.jsonl").answers()) == list(read_run(table).answers())


def test_parts_become_one_file(tmp_path: Path) -> None:
    for number in range(3):
        write(
            Run.of([Answer(f"q{number}", (Hit("a", 1.0, 3, 4, "f", 9),))], name="x"),
            tmp_path / f"part-{number}.parquet",
        )
    done = convert(f"{tmp_path}/part-*.parquet", tmp_path / "run.txt", target_format="trec-run")
    assert (done.queries, done.entries) == (3, 3)
    assert done.warnings == ("line ranges", "symbols", "token counts")
    assert list(read_run(tmp_path / "run.txt").query_ids) == ["q0", "q1", "q2"]


def test_a_bad_part_leaves_nothing(tmp_path: Path) -> None:
    text = tmp_path / "a.run"
    text.write_text("q1 Q0 d1 1 2.0 x\nq2 Q0 d1 1 high x\n")
    with pytest.raises(FormatError, match=r"a\.run:2: score 'high' is not a finite number"):
        convert(text, tmp_path / "b.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.run"]


def test_an_error_in_a_later_part_is_reported_as_it_is(tmp_path: Path) -> None:
    from karat.extensions.parquet.run import write_parts

    def parts() -> Iterator[Run]:
        yield Run.of([Answer("q1", (Hit("a", 1.0),))])
        raise InputError("the disk is gone")

    with pytest.raises(InputError, match="the disk is gone"):
        write_parts(parts(), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())
