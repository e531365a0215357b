from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.experiments.workers.sources import load_corpus
from karat.formats import detect, read_dataset, write
from karat.model import Dataset, Query, Target

QUERIES = '{"_id": "1", "text": "one", "metadata": {"a": 1}}\n{"_id": "2", "text": "two"}\n'
CORPUS = '{"_id": "d1", "title": "", "text": "x"}\n{"_id": "d2", "title": "", "text": "y"}\n'


def folder(path: Path, **files: str) -> Path:
    (path / "qrels").mkdir()
    (path / "queries.jsonl").write_text(files.get("queries", QUERIES))
    for split in ("test", "dev", "train"):
        if split in files:
            text = "query-id\tcorpus-id\tscore\n" + files[split]
            (path / "qrels" / f"{split}.tsv").write_text(text)
    if "corpus" in files:
        (path / "corpus.jsonl").write_text(files["corpus"])
    return path


def test_by_hand(tmp_path: Path) -> None:
    path = folder(tmp_path, test="1\td1\t2\n1\td9\t0\n", dev="2\td2\t1\n", corpus=CORPUS)
    assert detect(path).name == "beir"
    data = read_dataset(path)
    assert list(data.queries()) == [
        Query("1", "one", (Target("d1", 2), Target("d9", 0)), {}, {"a": 1})
    ]
    assert data.metadata == {
        "split": "test",
        "corpus_documents": 2,
        "judged_documents_missing": 1,
    }
    dev = read_dataset(path / "qrels" / "dev.tsv")
    assert dev.query_ids == ("2",)


@pytest.mark.parametrize(
    ("files", "where", "message"),
    [
        ({"test": "1\td1\n"}, "test.tsv:2", "expected query-id, corpus-id, score"),
        ({"test": "1\td1\t-1\n"}, "test.tsv:2", "score '-1' is not a number"),
        ({"test": "1\td1\t1\n1\td1\t0\n"}, "test.tsv:3", "'d1' is judged twice"),
        ({"test": ""}, "test.tsv", "no judgment"),
        ({"test": "7\td1\t1\n"}, "queries.jsonl", "no query '7', which test.tsv judges"),
        ({"test": "1\td1\t1\n", "queries": '{"_id": "1"}\n'}, "queries.jsonl:1", "'text' is"),
        ({"test": "1\td1\t1\n", "queries": QUERIES + "{\n"}, "queries.jsonl:3", "not JSON"),
        ({"test": "1\td1\t1\n", "queries": QUERIES * 2}, "queries.jsonl:3", "_id '1' appears"),
        ({"test": "1\td1\t1\n", "corpus": CORPUS + "[]\n"}, "corpus.jsonl:3", "expected an obj"),
    ],
)
def test_problems(tmp_path: Path, files: dict[str, str], where: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_dataset(folder(tmp_path, **files))
    assert any(f"{where}: {message}" in str(problem) for problem in caught.value.problems)


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder; expected a gold set"):
        read_dataset(tmp_path)
    with pytest.raises(InputError, match=r"no qrels/\*\.tsv"):
        read_dataset(tmp_path, format="beir")


def test_ids_that_do_not_fit(tmp_path: Path) -> None:
    data = Dataset.of([Query("1", "x", (Target("a\tb"),))])
    with pytest.raises(InputError, match="cannot hold the id"):
        write(data, tmp_path / "out", format="beir")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("queries", "corpus", "qrels"),
    [
        ("queries.parquet", "corpus.parquet", "qrels/test.parquet"),
        ("queries/queries-00000-of-00001.parquet", "corpus/corpus.parquet", "default/test.jsonl"),
        ("queries.jsonl", "corpus.jsonl", "data/test-00000-of-00001.parquet"),
        ("data/queries-0.parquet", "data/corpus-0.parquet", "data/test-0.parquet"),
        ("queries/test.jsonl", "corpus/test.jsonl", "default/qrels/test.csv"),
    ],
)
def test_hugging_face(tmp_path: Path, queries: str, corpus: str, qrels: str) -> None:
    polars = pytest.importorskip("polars")
    folder_path = tmp_path / "set"
    rows = {
        queries: [{"_id": "q1", "text": "who"}, {"_id": "q2", "text": "unjudged"}],
        corpus: [{"_id": "d1", "title": "T", "text": "it is me"}],
        qrels: [
            {"query-id": "q1", "corpus-id": "d1", "score": 2},
            {"query-id": "q1", "corpus-id": "d9", "score": 0},
        ],
    }
    for name, records in rows.items():
        file = folder_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        frame = polars.DataFrame(records)
        if name.endswith(".parquet"):
            frame.write_parquet(file)
        elif name.endswith(".csv"):
            frame.write_csv(file)
        else:
            frame.write_ndjson(file)
    for path in (folder_path, folder_path / qrels):
        assert detect(path).name == "beir"
        data = read_dataset(path)
        assert data.query_ids == ("q1",)
        assert data.judgments(0) == {"d1": 2, "d9": 0}
        assert data.metadata == {
            "split": "test",
            "corpus_documents": 1,
            "judged_documents_missing": 1,
        }
    loaded = load_corpus(str(folder_path))
    assert [document.path for document in loaded] == ["d1"]
    assert loaded.read("d1") == "T\n\nit is me"
    (folder_path / qrels).unlink()
    with pytest.raises(InputError):
        read_dataset(folder_path)


def test_columns_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "who"}\n')
    (tmp_path / "qrels" / "test.jsonl").write_text('{"query-id": "q1", "document": "d1"}\n')
    with pytest.raises(InputError, match="no column corpus-id; expected query-id, corpus-id"):
        read_dataset(tmp_path)
