from pathlib import Path
from typing import Any

import pytest

from karat.errors import FormatError, InputError
from karat.extensions.parquet.parts import find_parts, open_parts
from karat.extensions.parquet.run import scan_parquet_run
from karat.formats import detect, read_dataset, read_run

pl = pytest.importorskip("polars")


def write(path: Path, /, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return path


def scanned(source: object) -> dict[str, dict[str, float]]:
    scan = scan_parquet_run(source, {})  # type: ignore[arg-type]
    assert scan is not None
    return {query: dict(ranking) for query, ranking in scan}


@pytest.mark.parametrize(
    ("query", "document", "value"),
    [
        ("query_id", "path", "score"),
        ("q_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "score"),
        ("Topic", "PID", "similarity"),
    ],
)
def test_names_of_columns(tmp_path: Path, query: str, document: str, value: str) -> None:
    path = write(tmp_path / "x.parquet", **{query: [7, 7], document: ["a", "b"], value: [1.5, 2.5]})
    assert detect(path, kind="run").name == "parquet"
    assert scanned(path) == {"7": {"a": 1.5, "b": 2.5}}
    assert [hit.path for hit in read_run(path).answer(0).hits] == ["b", "a"]


def test_a_frame_of_ranx_is_a_run_or_a_gold_set(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", q_id=["q", "q"], doc_id=["a", "b"], score=[1.0, 2.0])
    assert [hit.path for hit in next(iter(read_run(path).answers())).hits] == ["b", "a"]
    assert read_dataset(path).judgments(0) == {"a": 1, "b": 2}


def test_whole_numbers_may_be_grades(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write(path, **{"query-id": ["q"], "corpus-id": ["d"], "score": [1]})
    assert detect(path).kind == "dataset"
    write(path, **{"query-id": ["q"], "corpus-id": ["d"], "score": [1.0]})
    assert detect(path).name == "parquet"


def test_folders_of_parts(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for number in (10, 2, 1):
        write(run / f"part-{number}.parquet", query_id=[f"q{number}"], doc_id=["d"], score=[1.0])
    write(run / "_temporary" / "part-0.parquet", query_id=["no"], doc_id=["d"], score=[1.0])
    (run / "_SUCCESS").touch()
    assert [path.name for path, _ in find_parts(run)] == [
        "part-1.parquet",
        "part-2.parquet",
        "part-10.parquet",
    ]
    assert detect(run, kind="run").name == "parquet"
    assert detect(f"{run}/*.parquet", kind="run").name == "parquet"
    assert read_run(f"{run}/part-?.parquet").query_ids == ("q1", "q2")
    assert read_run(run).query_ids == ("q1", "q2", "q10")


@pytest.mark.parametrize("source", ["run", "run/*", "run/*/*.parquet", "run/**/*.parquet"])
def test_partitions_of_hive(tmp_path: Path, source: str) -> None:
    for query in ("001", "a%2Fb"):
        for shard in (0, 1):
            folder = tmp_path / "run" / f"query_id={query}" / f"shard={shard}"
            write(folder / "part-0.parquet", doc_id=[f"d{shard}"], score=[float(shard)])
    if source == "run/*/*.parquet":
        source = "run/*/*/*.parquet"
    expected = {"d0": 0.0, "d1": 1.0}
    assert scanned(tmp_path / source) == {"001": expected, "a/b": expected}


def test_a_missing_column_lists_the_header(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", query_id=["q"], document_name=["d"], value=[1.0])
    with pytest.raises(FormatError) as caught:
        open_parts(path)
    assert str(caught.value).endswith(
        "x.parquet: no column path; the header is query_id (String), document_name (String), "
        "value (Float64); expected query_id, path, score, rank, start_line, end_line, symbol, "
        "tokens"
    )
    write(tmp_path / "run" / "part-0.parquet", query_id=["q"], path=["d"])
    write(tmp_path / "run" / "part-1.parquet", query=["q"], path=["d"])
    write(tmp_path / "run" / "part-2.parquet", query_id=["q"], doc=["d"], score=["high"])
    with pytest.raises(FormatError) as caught:
        open_parts(tmp_path / "run")
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == [
        "no column query_id",
        "column 'score' is String",
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"path": [["a"]], "score": [1.0]}, "expected a list of numbers, as many as documents"),
        ({"path": ["a"], "score": [[1.0]]}, "expected one value per row"),
        ({"path": [{"id": "a"}], "score": [1.0]}, "expected text or numbers"),
        ({"path": [["a", "b"]], "scores": [[1.0]]}, "row 1: 2 documents, 1 scores"),
        ({"path": [["a", None]], "scores": [[1.0, 0.5]]}, "row 1: no document"),
    ],
)
def test_columns_that_do_not_fit(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "x.parquet", query_id=["q"], **columns)
    with pytest.raises(FormatError, match=message):
        scanned(path)


def test_no_parts(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "*.parquet"):
        with pytest.raises(InputError, match="no Parquet file; expected a file, a folder"):
            open_parts(source)
    with pytest.raises(InputError, match="no such file"):
        open_parts(tmp_path / "x.parquet")
    (tmp_path / "x.parquet").touch()
    with pytest.raises(FormatError, match="not Parquet"):
        open_parts(tmp_path)
