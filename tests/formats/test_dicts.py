"""Judgments and runs as JSON dictionaries."""

from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

import pytest

from karat import evaluate, load
from karat.errors import FormatError, InputError
from karat.formats import detect, read_dataset, read_run, write
from karat.formats.objects import judgments_of
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


class Judgment(NamedTuple):
    """A row as ir_measures has it."""

    query_id: str
    doc_id: str
    relevance: float | None


def frame(kind: str, grades: list[float | None]) -> object:
    """Return a frame with these grades of the documents a, b... of query q."""
    library = pytest.importorskip(kind)
    pytest.importorskip("narwhals")
    names = list("abcd"[: len(grades)])
    return library.DataFrame({"query_id": ["q"] * len(names), "doc_id": names, "rel": grades})


@pytest.mark.parametrize("grade", [nan, None])
def test_a_missing_grade_is_an_error(grade: float | None) -> None:
    rows = [Judgment("q", "a", 1), Judgment("q", "b", grade)]
    frames = [frame(kind, [1.0, grade]) for kind in ("pandas", "polars")]
    message = "document 'b' of query 'q' has no grade; expected a number"
    for source in ({"q": {"a": 1, "b": grade}}, rows, *frames):
        with pytest.raises(InputError, match=message):
            evaluate(source, {"q": {"a": 1.0}}, ["mrr"], confidence=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has no grade, and 1 more; expected"):
        judgments_of({"q": {"a": grade}, "r": {"b": grade}})


def test_two_different_grades_of_one_document_are_an_error() -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    message = "document 'a' of query 'q' has two grades, 1 and 2; expected one"
    for second in (2, 1):
        rows = [Judgment("q", "a", 1), Judgment("q", "a", second)]
        columns = {"query_id": ["q", "q"], "doc_id": ["a", "a"], "relevance": [1, second]}
        for source in (rows, polars.DataFrame(columns), {"q": [("a", 1), ("a", second)]}):
            if second == 1:
                assert judgments_of(source) == {"q": {"a": 1}}
                continue
            with pytest.raises(InputError, match=message):
                judgments_of(source)


def test_scores_that_are_nan_are_counted_in_a_warning() -> None:
    gold = {"q": {"a": 2, "b": 1}}
    run = {"q": {"a": 0.9, "b": nan, "c": nan}}
    evaluation = evaluate(gold, run, ["mrr"], confidence=None)
    assert evaluation.warnings == ("run1: 2 hits left out, because the score is NaN or infinite",)
    assert evaluate(gold, {"q": {"a": 1.0}}, ["mrr"], confidence=None).warnings == ()


def test_a_frame_of_ranx_is_a_gold_set(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "x.parquet"
    rows = {"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
    polars.DataFrame(rows).write_parquet(path)
    assert read_dataset(path).judgments(0) == {"a": 1, "b": 2}
