from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
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
    place = folder(tmp_path, test="1\td1\t2\n1\td9\t0\n", dev="2\td2\t1\n", corpus=CORPUS)
    assert detect(place).name == "beir"
    data = read_dataset(place)
    assert list(data.queries()) == [
        Query("1", "one", (Target("d1", 2), Target("d9", 0)), {}, {"a": 1})
    ]
    assert data.metadata == {
        "split": "test",
        "corpus_documents": 2,
        "judged_documents_missing": 1,
    }
    dev = read_dataset(place / "qrels" / "dev.tsv")
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
    with pytest.raises(InputError, match="the format is unknown"):
        read_dataset(tmp_path)
    with pytest.raises(InputError, match=r"no qrels/\*\.tsv"):
        read_dataset(tmp_path, format="beir")


def test_ids_that_do_not_fit(tmp_path: Path) -> None:
    data = Dataset.of([Query("1", "x", (Target("a\tb"),))])
    with pytest.raises(InputError, match="cannot hold the id"):
        write(data, tmp_path / "out", format="beir")
    assert not list(tmp_path.iterdir())
