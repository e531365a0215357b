"""Load datasets and runs from a path or from memory."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from karat.app.score import distinct_names, load_judgments, load_run, run_name
from karat.errors import FormatError, InputError
from karat.model import Answer, Dataset, Hit, Run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.qrels").write_text("q1 0 a 1\nq2 0 b 2\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 2.5 t\nq1 Q0 x 2 1.5 t\n")
    (tmp_path / "empty").write_text("")
    return tmp_path


def test_memory_is_taken_as_it_is(files: Path) -> None:
    gold = {"q1": {"a": 1.0}}
    run = Run.of([Answer("q1", (Hit("a", 1.0),))])
    assert load_judgments(gold) is gold
    assert load_run(run, gold) is run


def test_judgments_stay_plain_until_tags_are_asked_for(files: Path) -> None:
    assert load_judgments(files / "gold.qrels") == {"q1": {"a": 1}, "q2": {"b": 2}}
    tagged = load_judgments(files / "gold.qrels", tags=["hard=2-2"])
    assert isinstance(tagged, Dataset)
    assert list(tagged.tags["hard"]) == ["standard", "hard"]


def test_a_trec_run_is_a_stream_of_scores(files: Path) -> None:
    stream = load_run(str(files / "bm25.run"), {"q1": {"a": 1.0}})
    assert not isinstance(stream, Run | Mapping)
    assert [(query, scores["a"]) for query, scores in stream] == [("q1", 2.5)]


def test_a_file_of_the_other_kind_is_called_what_it_is(files: Path) -> None:
    with pytest.raises(InputError, match=r"bm25\.run: this is a run .*; expected a gold set"):
        load_judgments(files / "bm25.run")
    with pytest.raises(InputError, match=r"gold\.qrels: this is a gold set .*; expected a run"):
        load_run(files / "gold.qrels", {})
    with pytest.raises(InputError, match="this is a folder; expected a run"):
        load_run(files, {})
    with pytest.raises(FormatError, match="the file is empty"):
        load_judgments(files / "empty")


def test_a_run_is_called_as_its_file_or_as_itself() -> None:
    assert run_name("runs/bm25-k1.2.run.gz", 1) == "bm25-k1.2"
    assert run_name(Path(".hidden"), 1) == ".hidden"
    assert run_name(Run.of([], name="dense"), 1) == "dense"
    assert run_name({}, 3) == "run3"


def test_parts_have_the_name_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "bm25.v2").mkdir()
    for source in ("bm25.v2", "bm25.v2/", "bm25.v2/*.parquet", "bm25.v2/*/part-[0-9].parquet"):
        assert run_name(f"{tmp_path}/{source}", 1) == "bm25.v2"
    assert run_name("part-*.parquet", 1) == "part-*"


def test_names_never_clash() -> None:
    names = distinct_names(["old/a.run", "new/a.run", "a-2.run", "b.run"])
    assert len(set(names)) == 4
    assert names[0] == "a-1"
    assert names[2:] == ["a-2", "b"]
