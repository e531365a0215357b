"""Judgments and runs as JSON dictionaries."""

from math import isnan
from pathlib import Path

import pytest

from karat import evaluate, load
from karat.errors import FormatError, InputError
from karat.formats import detect, read_dataset, read_run, write
from karat.model import Answer, Dataset, Hit, Run


def test_a_pair_of_files_is_scored(tmp_path: Path) -> None:
    qrels, run, ranked = tmp_path / "qrels.json", tmp_path / "run.json", tmp_path / "ranked.json"
    qrels.write_text('{"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}')
    run.write_text('{"q1": {"d2": 0.1, "d1": 0.9}, "q2": {"d9": 2, "d3": 1}}')
    ranked.write_text('{"q1": ["d1", "d2"], "q2": [["d9", 2], ["d3", 1.5]]}')
    for path in (run, ranked):
        assert evaluate(qrels, path, ["mrr"], confidence=None)["mrr"] == 0.75
    assert read_dataset(qrels).judgments(0) == {"d1": 2, "d2": 0}
    first, second = read_run(ranked).answers()
    assert isnan(first.hits[0].score)
    assert second.hits == (Hit("d9", 2), Hit("d3", 1.5))


def test_whole_numbers_are_grades_unless_a_run_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"q1": {"d1": 1}}')
    assert detect(path).name == "json-qrels"
    assert detect(path, kind="run").name == "json-run"
    assert isinstance(load(path), Dataset)
    path.write_text('{"q0": {}, "q1": {"d1": 1.5}}')
    assert detect(path).name == "json-run"
    assert isinstance(load(path), Run)
    with pytest.raises(InputError):
        detect(path, kind="dataset")
    path.write_text('{"config": {"k": 10}, "test_cases": []}')
    assert detect(path).name == "gold"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q1": {"d1": "x"}}', "q1.d1: expected a number, found text"),
        ('{"q1": 3}', "q1: expected an object, found a number"),
        ('{"": {"d1": 1}}', "the query id is empty"),
        ("{}", "no query in the file"),
        ("[]", "expected an object, found a list"),
    ],
)
def test_problems(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    for name in ("json-qrels", "json-run"):
        with pytest.raises(FormatError, match=message):
            load(path, format=name)
    path.write_text('{"q": {"d": null}}')
    with pytest.raises(FormatError, match="expected a score, found null"):
        load(path, format="json-run")


def test_a_run_without_scores_is_written_as_lists(tmp_path: Path) -> None:
    run = Run.of([Answer("q", (Hit("b"), Hit("a"), Hit("b")))], name="x")
    path = tmp_path / "x.json"
    write(run, path, format="json-run")
    assert path.read_text() == '{\n  "q": [\n    "b",\n    "a"\n  ]\n}\n'


def test_a_frame_of_ranx(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "x.parquet"
    rows = {"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
    polars.DataFrame(rows).write_parquet(path)
    assert [hit.path for hit in next(iter(read_run(path).answers())).hits] == ["b", "a"]
    assert read_dataset(path).judgments(0) == {"a": 1, "b": 2}
