from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.app.convert import convert, write_like
from karat.cli.commands.convert import command
from karat.errors import FormatError, InputError
from karat.formats import FORMATS, read_dataset, read_judgments, write
from karat.model import Dataset, Query, Target

CSV = "query,result1,result2,lang\nwhere,a.rs:1-2:2,a.rs:5-6:1,rust\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "code.csv"
    path.write_text(CSV)
    return path


def test_nothing_is_lost_in_a_gold_set(source: Path) -> None:
    target = source.with_name("gold.json")
    done = convert(source, target)
    assert done.warnings == ()
    assert (done.source_format, done.target_format) == ("octocode", "gold")
    assert (done.queries, done.entries) == (1, 2)
    assert list(read_dataset(target).queries()) == list(read_dataset(source).queries())


def test_what_is_lost_is_said(source: Path) -> None:
    target = source.with_name("qrels.txt")
    done = convert(source, target, target_format="trec-qrels")
    assert done.warnings == (
        "query texts",
        "line ranges",
        "tags",
        "matching mode 'lines', which becomes 'document'",
    )
    assert read_judgments(target) == {"1": {"a.rs": 2.0}}


def test_masks_are_never_lost_silently(tmp_path: Path) -> None:
    masks = {"a.py": {"blob": "ac" * 20, "lines": [[2, 2]]}}
    query = Query("1", "where", (Target("a.py", start_line=3, end_line=5),))
    source, target = tmp_path / "masked.json", tmp_path / "gold.csv"
    write(Dataset.of([query], name="masked", metadata={"masks": masks}), source)
    with pytest.raises(
        InputError,
        match=r"gold\.csv: the gold set masks lines of 1 file \(a\.py\), .*'octocode'.*--force",
    ):
        convert(source, target)
    assert not target.exists()
    with pytest.raises(InputError, match="masks lines of 1 file"):
        write_like(read_dataset(source), str(target), FORMATS.get("gold"))
    done = convert(source, target, force=True)
    assert "masks of 1 file (a.py); scores without them are too high" in done.warnings
    # A gold set has them.
    assert convert(source, tmp_path / "again.json").warnings == ()
    assert read_dataset(tmp_path / "again.json").metadata["masks"] == masks


def test_the_input_is_never_overwritten(source: Path) -> None:
    link = source.with_name("link.csv")
    link.symlink_to(source)
    for target in (source, link):
        with pytest.raises(InputError, match="is the input"):
            convert(source, target, force=True)
    assert source.read_text() == CSV


def test_another_file_only_by_force(source: Path) -> None:
    target = source.with_name("gold.json")
    target.write_text("precious")
    with pytest.raises(InputError, match="exists already"):
        convert(source, target)
    assert target.read_text() == "precious"
    convert(source, target, force=True)
    assert len(read_dataset(target)) == 1


def test_a_bad_input_leaves_nothing(source: Path) -> None:
    source.write_text(CSV + "x,y:1,,\n")
    target = source.with_name("gold.json")
    with pytest.raises(FormatError):
        convert(source, target)
    assert sorted(path.name for path in source.parent.iterdir()) == ["code.csv"]


def test_the_command(source: Path) -> None:
    target = source.with_name("q.qrels")
    done = CliRunner().invoke(command, [str(source), str(target), "--from", "octocode"])
    assert done.exit_code == 0
    assert done.stdout == f"{target}: 1 query, 2 entries, octocode -> trec-qrels\n"
    assert done.stderr.splitlines() == [
        "warning: not written: query texts",
        "warning: not written: line ranges",
        "warning: not written: tags",
        "warning: not written: matching mode 'lines', which becomes 'document'",
    ]


def test_runs_are_converted_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.formats.trec_run.PART_HITS", 3)
    rows = [f"q{q} Q0 d{d} {d} {-d / 3!r} bm25\n" for q in range(5) for d in range(1, 4)]
    text, copy = tmp_path / "a.run", tmp_path / "b.trec"
    text.write_text("".join(rows))
    done = convert(text, copy)
    assert (done.source_format, done.target_format) == ("trec-run", "trec-run")
    assert (done.source, done.queries, done.entries) == (str(text), 5, 15)
    assert copy.read_text() == text.read_text()


def test_a_bad_part_leaves_nothing(tmp_path: Path) -> None:
    text = tmp_path / "a.run"
    text.write_text("q1 Q0 d1 1 2.0 x\nq2 Q0 d1 1 high x\n")
    with pytest.raises(FormatError, match=r"a\.run:2: score 'high' is not a finite number"):
        convert(text, tmp_path / "b.trec")
    assert [path.name for path in tmp_path.iterdir()] == ["a.run"]
