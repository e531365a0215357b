import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.score import score
from karat.errors import FormatError
from karat.extensions.parquet.run import ParquetRun, scan_parquet_run
from karat.formats import read_run, scan_trec_run
from karat.formats.ranked_columns import ColumnRanking
from karat.scoring.matching import judge

pl = pytest.importorskip("polars")

Rows = list[tuple[str, str, float]]

# Few values and few letters, so that ties and equal prefixes are common.
SCORES = st.sampled_from([3.0, 2.5, 2.0, 1e-7, 0.1 + 0.2, 0.3, -1.0])
DOCUMENTS = st.text("ab1", min_size=1, max_size=3)
RANKING = st.dictionaries(DOCUMENTS, SCORES, min_size=1, max_size=6)
RUN = st.dictionaries(st.sampled_from(["q1", "q2", "10", "9", "é"]), RANKING, min_size=1)
GRADES = st.dictionaries(DOCUMENTS, st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=5)
JUDGED = st.dictionaries(st.sampled_from(["q1", "q2", "10", "absent"]), GRADES, min_size=1)
TIES = st.sampled_from(["trec10", "trec9", "order", "best", "worst"])


def rows_of(run: Mapping[str, Mapping[str, float]]) -> Rows:
    return [
        (query, name, value)
        for query, documents in run.items()
        for name, value in documents.items()
    ]


def write_text(path: Path, rows: Rows) -> None:
    path.write_text("".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in rows), encoding="utf-8")


def long_frame(rows: Rows) -> Any:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def wide_frame(rows: Rows) -> Any:
    grouped = long_frame(rows).group_by("query_id", maintain_order=True)
    return grouped.agg(pl.col("doc_id").alias("doc_ids"), pl.col("score").alias("scores"))


@given(run=RUN, judged=JUDGED, ties=TIES, data=st.data())
def test_any_layout_is_judged_like_the_text(
    tmp_path_factory: pytest.TempPathFactory,
    run: dict[str, dict[str, float]],
    judged: dict[str, dict[str, float]],
    ties: str,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    rows = rows_of(run)
    if data.draw(st.booleans(), label="rows of a query apart"):
        rows = data.draw(st.permutations(rows), label="rows")
    text = folder / "x.txt"
    write_text(text, rows)
    frame = long_frame(rows)
    if data.draw(st.booleans(), label="lists"):
        frame = wide_frame(rows)
    cuts = data.draw(st.lists(st.integers(0, len(frame)), max_size=3), label="cuts")
    bounds = [0, *sorted(cuts), len(frame)]
    for number, start in enumerate(bounds[:-1]):
        part = frame.slice(start, bounds[number + 1] - start)
        size = data.draw(st.integers(1, 4), label="rows of a group")
        part.write_parquet(folder / f"part-{number}.parquet", row_group_size=size)
    size = data.draw(st.sampled_from([3, 1000]), label="hits of a batch")
    scanned = scan_parquet_run(folder, judged, batch_hits=size)
    assert scanned is not None
    expected = judge(judged, dict(scan_trec_run(text)), ties=ties, name="x")
    got = judge(judged, scanned, ties=ties, name="x")
    assert sorted(got.unknown_queries) == sorted(expected.unknown_queries)
    assert got.queries == expected.queries
    assert got.statuses == expected.statuses
    # The same through a Run, which holds all hits.
    whole = judge(judged, read_run(folder), ties=ties, name="x")
    assert whole.queries == expected.queries


def many(queries: int, hits: int) -> Rows:
    rng = random.Random(0)
    return [(f"q{q}", f"d{d}", round(rng.random(), 2)) for q in range(queries) for d in range(hits)]


def scores_of(qrels: Path, run: object) -> Any:
    return score(qrels, run, name="x").table  # type: ignore[arg-type]


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    rng = random.Random(1)
    judged = {(q, rng.randrange(30)): rng.randrange(3) for q in range(40) for _ in range(4)}
    path.write_text("".join(f"q{q} 0 d{d} {grade}\n" for (q, d), grade in judged.items()))
    return path


@pytest.mark.parametrize("order", ["by query", "by document", "random"])
def test_scores_are_those_of_the_text_to_the_last_bit(
    tmp_path: Path, qrels: Path, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = many(40, 30)
    if order == "by document":
        rows.sort(key=lambda row: row[1])
    elif order == "random":
        random.Random(2).shuffle(rows)
    write_text(tmp_path / "x.run", rows)
    frame = long_frame(rows)
    parts = tmp_path / "run"
    parts.mkdir()
    for number in range(12):
        frame.slice(number * 100, 100).write_parquet(parts / f"part-{number}.parquet")
    monkeypatch.setattr("karat.extensions.parquet.run.QUERY_ROWS", 64)
    monkeypatch.setattr(ParquetRun.__init__, "__kwdefaults__", {"batch_hits": 128})
    expected = scores_of(qrels, tmp_path / "x.run")
    for source in (parts, str(parts / "*.parquet"), f"{tmp_path}/r*/part-[0-9]*"):
        assert scores_of(qrels, source) == expected


def test_batches_end_where_queries_end(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    long_frame(many(7, 10)).write_parquet(path)
    frames = list(ParquetRun(path, batch_hits=25).batches())
    assert [len(frame) for frame in frames] == [20, 20, 20, 10]
    frames = list(ParquetRun(path, batch_hits=3).batches())
    assert [frame["query"].unique().to_list() for frame in frames] == [[f"q{n}"] for n in range(7)]


def test_rows_of_a_query_apart_go_through_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = many(20, 10)
    random.Random(0).shuffle(rows)
    long_frame(rows).write_parquet(path)
    frames = list(ParquetRun(path, batch_hits=50).batches())
    assert len(frames) > 1
    queries = [query for frame in frames for query in frame["query"].unique().to_list()]
    assert sorted(queries) == sorted({query for query, _, _ in rows})
    assert sum(map(len, frames)) == 200


def test_empty_parts_and_lists(tmp_path: Path) -> None:
    judged = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    long_frame([("q1", "a", 1.0)]).write_parquet(tmp_path / "part-1.parquet")
    long_frame([("q1", "a", 1.0)]).clear().write_parquet(tmp_path / "part-0.parquet")
    assert scanned(tmp_path, judged) == {"q1": {"a": 1.0}}
    frame = pl.DataFrame(
        {"qid": ["q1", "q2", "q3"], "doc_ids": [["a"], [], None], "scores": [[1.0], [], None]}
    )
    frame.write_parquet(tmp_path / "wide.parquet")
    assert scanned(tmp_path / "wide.parquet", judged) == {"q1": {"a": 1.0}, "q2": {}, "q3": {}}
    run = read_run(tmp_path / "wide.parquet")
    assert [len(answer.hits) for answer in run.answers()] == [1, 0, 0]
    assert judge(judged, run).queries == judge(judged, scan(tmp_path / "wide.parquet")).queries


def test_a_run_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    long_frame([("q1", "a", 1.0)]).clear().write_parquet(path)
    assert scanned(path) == {}
    assert len(read_run(path)) == 0


def scan(path: Path, judged: Mapping[str, Mapping[str, float]] | None = None) -> Any:
    run = scan_parquet_run(path, judged or {})
    assert run is not None
    return run


def scanned(
    path: Path, judged: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, dict[str, float]]:
    return {query: dict(ranking) for query, ranking in scan(path, judged)}


def test_without_scores_the_rank_decides_then_the_order(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "docno": ["a", "b", "c"], "rank": [2, None, 1], "score": [None] * 3}
    )
    frame.write_parquet(path)
    assert scanned(path) == {"q": {"c": 0.0, "a": -1.0, "b": -2.0}}
    frame.drop("rank").write_parquet(path)
    assert scanned(path) == {"q": {"a": 0.0, "b": -1.0, "c": -2.0}}
    pl.DataFrame({"qid": ["q"], "documents": [["b", "a"]]}).write_parquet(path)
    assert scanned(path) == {"q": {"b": 0.0, "a": -1.0}}


def test_missing_scores_and_repeated_documents_are_invalid_hits(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame(
        {
            "query_id": ["q1"] * 5 + ["q2"] * 3,
            "path": ["a", "b", "a", "b", "c", "x", "y", "x"],
            "score": [1.0, 5.0, 3.0, None, 4.0, 2.0, None, 1.0],
        }
    )
    judged = {"q1": {"a": 1.0, "c": 2.0}, "q2": {"x": 1.0, "y": 1.0}}
    for ranks in (None, [3, 2, 1, 4, 5, 2, 3, 1]):
        if ranks:
            frame = frame.with_columns(pl.Series("rank", ranks))
        frame.write_parquet(path)
        streamed, whole = judge(judged, scan(path, judged)), judge(judged, read_run(path))
        assert streamed.queries == whole.queries
        assert streamed.invalid == whole.invalid == {"duplicate": 2, "non-finite score": 2}


def test_invalid_rows_of_all_parts_are_reported_at_once(tmp_path: Path) -> None:
    rows: Rows = [("q1", "a", 1.0), ("q1", "b", float("nan")), ("q2", " ", 1.0)]
    long_frame(rows).write_parquet(tmp_path / "part-1.parquet")
    long_frame([("q3", "a", float("inf"))]).write_parquet(tmp_path / "part-2.parquet")
    run = scan_parquet_run(tmp_path, {}, batch_hits=1)
    assert run is not None
    with pytest.raises(FormatError) as caught:
        list(run)
    assert [str(problem).rpartition("/")[2] for problem in caught.value.problems] == [
        "part-1.parquet: row 2: score nan is not finite",
        "part-1.parquet: row 3: the path is empty",
        "part-2.parquet: row 1: score inf is not finite",
    ]


def test_hits_with_lines_are_no_ids(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"query_id": ["q"], "path": ["a"], "start_line": [1], "end_line": [2]})
    frame.write_parquet(path)
    assert scan_parquet_run(path, {}) is None
    frame.with_columns(start_line=None, end_line=None).write_parquet(path)
    assert scanned(path) == {"q": {"a": 0.0}}
    frame.with_columns(start_line=0, end_line=0, symbol=pl.lit("")).write_parquet(path)
    assert scanned(path) == {"q": {"a": 0.0}}
    frame.with_columns(start_line=0, end_line=0, symbol=pl.lit("f")).write_parquet(path)
    assert scan_parquet_run(path, {}) is None


def test_a_large_query_is_sampled_by_its_first_ids(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    long_frame([("q", f"d{number}", -number) for number in range(2_500)]).write_parquet(path)
    ((_, ranking),) = scan(path)
    assert isinstance(ranking, ColumnRanking)
    assert list(ranking) == [f"d{number}" for number in range(2_500)]
