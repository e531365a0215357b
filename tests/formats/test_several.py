"""Several gold sets as one, and datasets by an id."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from karat.app.benchmark_config import read_benchmark_config
from karat.errors import FormatError, InputError
from karat.formats import detect, is_source, read_dataset, write
from karat.model import Dataset, Query, Target


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "sets"
    path.mkdir()
    (path / "a.csv").write_text("id,question,document\n7,who,a.md\n8,how,b.md\n")
    cases = [{"id": "7", "query": "when", "ground_truth_files": ["c.md"], "category": "x"}]
    gold = {"test_cases": cases, "metadata": {"repository": "/srv/b", "candidates": "all"}}
    (path / "b.json").write_text(json.dumps(gold))
    (path / "README.md").write_text("about")
    (path / "old.run.txt").write_text("7 Q0 a.md 1 1 t\n")
    return path


def check(data: Dataset) -> None:
    assert data.query_ids == ("a:7", "8", "b:7")
    assert data.tags == {"file": ("a", "a", "b"), "category": ("", "", "x")}
    assert data.extras[2] == {"repository": "/srv/b"}
    assert data.match == "exact"


@pytest.mark.parametrize("name", ["sets", "sets/[ab].*", "sets/a.csv+sets/b.json"])
def test_every_way(name: str) -> None:
    assert detect(name).name == "folder"
    assert is_source(name)
    check(read_dataset(name))


def test_a_list_in_a_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "karat.yaml"
    path.write_text("dataset:\n  gold_set: [sets/a.csv, sets/b.json]\n")
    gold_set = read_benchmark_config(path).gold_set
    assert gold_set is not None
    check(read_dataset(gold_set))
    path.write_text("dataset:\n  gold_set: []\n")
    with pytest.raises(FormatError, match="the list is empty"):
        read_benchmark_config(path)


def test_columns_are_those_of_tables(folder: Path) -> None:
    (folder / "a.csv").write_text("Nr,Frage,Quelle\n7,who,a.md\n")
    columns = {"query": "Frage", "document": "Quelle", "id": "Nr"}
    assert read_dataset("sets", columns=columns).query_ids == ("a:7", "b:7")


def test_equal_names_and_metadata(folder: Path) -> None:
    (folder / "b.csv").write_text("id,query,doc,start_line,end_line\n7,x,a.md,1,2\n")
    data = read_dataset("sets")
    assert data.tags["file"] == ("a.csv", "a.csv", "b.csv", "b.json")
    assert data.match == "lines"
    (folder / "sub").mkdir()
    (folder / "sub" / "b.json").write_bytes((folder / "b.json").read_bytes())
    data = read_dataset("sets/b.json+sets/sub/b.json")
    assert data.query_ids == ("sets/b.json:7", "sets/sub/b.json:7")
    assert data.metadata == {"repository": "/srv/b", "candidates": "all"}


def test_sets_that_do_not_fit(folder: Path) -> None:
    other = Dataset.of([Query("1", "q", (Target("a"),))], match="akashic")
    write(other, folder / "c.json", format="gold")
    with pytest.raises(InputError, match=r"match hits in different ways .*c akashic"):
        read_dataset("sets")
    (folder / "c.yaml").write_text("just: text\n")
    with pytest.raises(InputError, match=r"c\.yaml"):
        read_dataset("sets")
    with pytest.raises(InputError, match="no gold set; expected files"):
        read_dataset("nothing/*.csv")
    assert not is_source("nothing.csv+sets/a.csv")


class FakeDataset:
    def __init__(self, *, judged: bool = True, broken: bool = False) -> None:
        self.judged, self.broken = judged, broken

    def has_queries(self) -> bool:
        return True

    def has_qrels(self) -> bool:
        return self.judged

    def queries_iter(self) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(query_id="1", title="who")
        yield SimpleNamespace(query_id="2", text="unjudged")

    def qrels_iter(self) -> Iterator[SimpleNamespace]:
        if self.broken:
            raise OSError("no network")
        yield SimpleNamespace(query_id="1", doc_id="d1", relevance=2, iteration="0")


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "tiny/test": FakeDataset(),
        "tiny/raw": FakeDataset(judged=False),
        "tiny/lost": FakeDataset(broken=True),
    }
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    assert is_source("irds:tiny/test")
    data = read_dataset("irds:tiny/test")
    assert (data.name, data.query_ids, data.texts) == ("tiny/test", ("1",), ("who",))
    assert data.judgments(0) == {"d1": 2}
    for name, message in (
        ("tiny/none", "ir_datasets has no dataset 'tiny/none'"),
        ("tiny/raw", "the dataset has no qrels"),
        ("tiny/lost", "the data cannot be loaded: no network"),
    ):
        with pytest.raises(InputError, match=message):
            read_dataset(f"irds:{name}")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(InputError, match="needs the package ir_datasets: pip install ir_data"):
        read_dataset("irds:tiny/test")
