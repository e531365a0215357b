import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

from karat.errors import (
    FormatError,
    InputError,
    LimitExceeded,
    MissingExtension,
    UnknownName,
)
from karat.formats import (
    FORMATS,
    Format,
    ReadLimits,
    detect,
    load,
    read,
    read_dataset,
    read_run,
    write,
)
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.registry import Registry
from tests.extension_kit import install_objects

DATA = Dataset.of([Query("1", "where", (Target("a.py", 2, 1, 3),))])
RUN = Run.of([Answer("1", (Hit("a.py", 0.5),))], name="x")


@pytest.mark.parametrize("kind", [None, "dataset", "run"])
def test_what_is_no_gold_set_says_what_to_do(tmp_path: Path, kind: str | None) -> None:
    engine = tmp_path / "mysearch.yaml"
    engine.write_text("engine: command\ncommand: [rg, '{query}']\n")
    with pytest.raises(
        InputError, match=r"is an engine, .*; give it with --engine .*mysearch.yaml"
    ):
        detect(engine, kind=kind)
    archive = tmp_path / "nfcorpus.zip"
    archive.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(InputError, match=r"nfcorpus.zip is an archive; unpack it"):
        detect(archive, kind=kind)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_format_is_complete(name: str) -> None:
    item = FORMATS.get(name)
    assert isinstance(item, Format)
    assert item.name == name
    assert item.kind in {"dataset", "run"}
    assert item.summary
    assert not item.keeps & item.refuses


# Those two are no single files.
READ_ONLY = [
    name
    for name in FORMATS.core()
    if not FORMATS.get(name).write and name not in {"folder", "irds"}
]
WRITABLE = [name for name in FORMATS.core() if FORMATS.get(name).write]


@pytest.mark.parametrize("name", READ_ONLY)
def test_the_documented_example_of_a_format_that_is_only_read_is_detected(
    name: str, tmp_path: Path
) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
    examples = re.findall(
        rf"^```\w+ {name}\.\w+\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    path = tmp_path / "file.dat"
    path.write_text(examples[0], encoding="utf-8")
    assert detect(path).name == name


def test_a_file_that_looks_like_rows_is_no_trec_file_if_it_is_json(tmp_path: Path) -> None:
    path = tmp_path / "file.dat"
    path.write_text('{ "version" : 1 , "test_cases": []}', encoding="utf-8")
    assert detect(path).name == "gold"


@pytest.mark.parametrize("name", WRITABLE)
def test_content_tells_the_format_whatever_the_name(name: str, tmp_path: Path) -> None:
    item = FORMATS.get(name)
    data: Dataset | Run = RUN
    if item.kind == "dataset":
        whole = [Query("1", "" if "textless" in item.keeps else "where", (Target("a.py"),))]
        data = Dataset.of(whole) if "files" in item.keeps else DATA
    path = tmp_path / "file.dat"
    write(data, path, format=name)
    assert detect(path).name == name
    assert detect(path, kind=item.kind).name == name


def test_gzip(tmp_path: Path) -> None:
    for name in ("g.json.gz", "o.csv.gz"):
        path = tmp_path / name
        write(DATA, path)
        assert path.read_bytes()[:2] == b"\x1f\x8b"
        assert list(read_dataset(path).queries()) == list(DATA.queries())
        first = path.read_bytes()
        write(DATA, path)
        assert path.read_bytes() == first
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(b'{"test_cases": []}' * 99)[:-12])
    with pytest.raises(FormatError, match="cannot be decompressed"):
        read_dataset(cut, format="gold")


def test_unknown_and_ambiguous(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("hello there\n")
    with pytest.raises(InputError, match="the format could be trec-qrels or trec-run") as caught:
        detect(path)
    assert "octocode" in str(caught.value)
    with pytest.raises(InputError, match="the format is unknown"):
        detect(path.rename(tmp_path / "x.dat"))
    both = tmp_path / "both.json"
    both.write_text('{"test_cases": [], "agent_name": "x", "results": [{"retrieved_files": []}]}')
    with pytest.raises(InputError, match="the format could be gold or results"):
        detect(both)


def test_the_suffix_decides_where_the_content_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("broken\n")
    with pytest.raises(FormatError, match=r"x\.run:1: 1 fields; expected 6"):
        read_run(path)


def test_the_wrong_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(DATA, path)
    with pytest.raises(InputError, match="format 'gold' holds a dataset; expected a run"):
        read_run(path, format="gold")
    with pytest.raises(InputError, match="'trec-run' holds a run, not a dataset"):
        write(DATA, path, format="trec-run")
    with pytest.raises(InputError, match="'results' cannot be written"):
        write(RUN, path, format="results")
    with pytest.raises(UnknownName, match="did you mean 'octocode'"):
        read(path, format="octocod")
    with pytest.raises(InputError, match="no format of a run has this ending"):
        write(RUN, tmp_path / "x.docx")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["trec-run", "trec-qrels", None])
def test_utf16_is_one_problem(tmp_path: Path, encoding: str, name: str | None) -> None:
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 a 1 0.5 t\n" * 30, encoding=encoding)
    with pytest.raises(FormatError, match=r"is UTF-16; expected UTF-8: .* iconv") as caught:
        read(path, format=name)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_utf16_with_a_mark_is_read(tmp_path: Path, encoding: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    write(DATA, path)
    text = path.read_text(encoding="utf-8")
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes((mark + text).encode(encoding))
    assert list(read_dataset(path).queries()) == list(DATA.queries())
    if mark:
        path.write_bytes(text.encode(encoding))
        with pytest.raises(FormatError, match="is UTF-16; expected UTF-8"):
            read_dataset(path)


def test_a_stray_nul_is_not_utf16(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_bytes(b"q\x001 Q0 a 1 0.5 t\n" + b"\0" * 9 + b"\n")
    with pytest.raises(FormatError, match=r"x\.run:1: a NUL byte; expected text"):
        read(path, format="trec-run")


def test_fractions_as_grades_and_runs_without_a_tag_are_recognised(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 a 1.7\nq1 0 b 0\n")
    assert read_dataset(qrels).judgments(0) == {"a": 1.7, "b": 0.0}
    run.write_text("q1 Q0 a 1 0.5\nq1 Q0 b 2 0.4\n")
    with pytest.raises(FormatError, match=r"run:1: no run tag; expected query Q0 document rank sc"):
        read_run(run)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
def test_empty_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="the file is empty"):
        detect(path)
    for name in FORMATS:
        if name not in {"beir", "folder", "irds"}:
            with pytest.raises(FormatError):
                read(path, format=name)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for name in FORMATS:
        with pytest.raises(InputError):
            read(tmp_path / "absent", format=name)
    with pytest.raises(InputError, match="is a folder; expected a file"):
        read(tmp_path, format="gold")


def test_a_file_of_two_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    for name, setting in (
        ("gold", "json_bytes"),
        ("octocode", "csv_bytes"),
    ):
        path = tmp_path / name
        with path.open("wb") as stream:
            stream.truncate(2 << 30)  # a hole: no byte is written
        with pytest.raises(LimitExceeded, match=f"setting {setting}"):
            read(path, format=name)


def test_a_compressed_file_counts_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(LimitExceeded, match="larger than 5,000 bytes"):
        read_dataset(path, format="gold", limits=ReadLimits(json_bytes=5_000))


def test_plug_ins_are_asked_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Format("mine", "run", "", (".x",), lambda _, head: head == b"mine", lambda *_: RUN)
    install_objects(monkeypatch, "format", {"mine": "elsewhere:FORMAT"})
    monkeypatch.setitem(FORMATS._loaded, "mine", mine)
    path = tmp_path / "f"
    path.write_text("mine")
    assert load.detect(path) is mine
    assert read_run(path) is RUN


PROBE = """
import sys
import karat.model, karat.registry
before = set(sys.modules)
from karat.formats import detect, read_judgments, scan_trec_run
path = sys.argv[1]
assert detect(path + ".qrels").name == "trec-qrels"
assert detect(path + ".run").name == "trec-run"
read_judgments(path + ".qrels")
list(scan_trec_run(path + ".run"))
print(*sorted(set(sys.modules) - before))
"""


def test_a_small_trec_run_loads_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("1 0 a 1\n")
    (tmp_path / "x.run").write_text("1 Q0 a 1 0.5 t\n")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path / "x")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.split()
    assert "karat.formats.trec_run" in loaded
    assert [name for name in loaded if not name.startswith("karat.")] == []


def test_without_the_extension_of_parquet_its_name_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No extension adds to a registry of another kind.
    alone = Registry[Format]("format of the core", FORMATS._table)
    monkeypatch.setattr("karat.formats.load.FORMATS", alone)
    path = tmp_path / "bm25.parquet"
    path.write_bytes(b"PAR1 and more")
    needs = "a run in Parquet needs Karat's extension parquet, which is not installed here"
    run = Run.of([Answer("q", (Hit("a"),))])
    for act in (
        lambda: read_run(path),
        lambda: read_run(f"{tmp_path}/*.parquet"),
        lambda: write(run, path),
    ):
        with pytest.raises(MissingExtension, match=needs):
            act()
