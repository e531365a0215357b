import json
from pathlib import Path

import pytest

from karat.errors import FormatError, LimitExceeded
from karat.formats import ReadLimits, detect, read_dataset
from karat.model import Target

DOCS = [
    {"doc_ref": {"uri": "file:///a.md"}, "relevance_grade": 3},
    {"doc_ref": "file:///b.md"},
    "file:///c.md",
    {"path": "d.md", "relevance_grade": 0},
    {"doc_ref": {"file_name": "e.md", "path": "x/e.md"}, "relevance_grade": 1},
    {"doc_ref": {"content_hash": "abc", "document_id": 7}},
]
EXPECTED = [
    Target("file:///a.md", 3, ref="uri"),
    Target("file:///b.md", 2, ref="uri"),
    Target("file:///c.md", 2, ref="uri"),
    Target("d.md", 0, ref="path"),
    Target("x/e.md", 1, ref="path"),
    Target("7", 2, ref="document_id"),
]


def dataset(path: Path, *queries: object) -> Path:
    path.write_text(json.dumps({"queries": list(queries)}, indent=1))
    return path


def test_by_hand(tmp_path: Path) -> None:
    queries = [
        {"query_key": "q1", "query_text": "jwt", "relevant_docs": DOCS, "metadata": {"a": 1}},
        {"query_id": 2, "query": "docker", "relevant_doc_refs": "file:///d.md"},
        {"query_id": "3", "query": "x", "relevant_docs": {"doc_ref": "u", "relevance_grade": 1}},
    ]
    data = read_dataset(dataset(tmp_path / "d.json", *queries))
    assert data.match == "document"
    assert data.query_ids == ("q1", "2", "3")
    assert data.targets(0) == EXPECTED
    assert data.targets(1) == [Target("file:///d.md", 2, ref="uri")]
    assert data.targets(2) == [Target("u", 1, ref="uri")]
    assert data.extras[0] == {"a": 1}


def test_problems(tmp_path: Path) -> None:
    queries = [
        {"query_text": "x", "relevant_docs": [{"doc_ref": "u", "relevance_grade": 4}]},
        {"query_key": "a", "query_text": " ", "relevant_docs": [{"doc_ref": {}}, {}, 5]},
        {"query_key": "a", "query_text": "x", "relevant_docs": ["u", {"doc_ref": {"uri": "u"}}]},
        {"query_key": "b", "query_text": "x"},
    ]
    path = dataset(tmp_path / "d.json", *queries)
    with pytest.raises(FormatError) as caught:
        read_dataset(path)
    names = "document_id, uri, content_hash, path, file_name"
    lines = path.read_text().splitlines()
    assert [problem.message for problem in caught.value.problems] == [
        "queries[0]: 'query_key' is missing",
        "queries[0].relevant_docs[0].relevance_grade: grade 4 is out of range; expected 0 to 3",
        "queries[1].query_text: the text is empty",
        f"queries[1].relevant_docs[0].doc_ref: no known reference; expected one of {names}",
        f"queries[1].relevant_docs[1]: no 'doc_ref' and none of {names}",
        "queries[1].relevant_docs[2]: expected an object, found a number",
        "queries[2]: query key 'a' appears more than once",
        "queries[2].relevant_docs[1]: document 'uri u' appears more than once",
        "queries[3]: 'relevant_docs' (or 'relevant_doc_refs') is missing",
    ]
    graded = caught.value.problems[1]
    assert '"relevance_grade": 4' in lines[graded.line - 1]


def test_limits(tmp_path: Path) -> None:
    query = {"query_key": "a", "query_text": "x", "relevant_docs": ["u", "v"]}
    path = dataset(tmp_path / "d.json", query, {**query, "query_key": "b"})
    assert len(read_dataset(path)) == 2
    for limits, name in (
        (ReadLimits(upload_bytes=9), "upload_bytes"),
        (ReadLimits(upload_queries=1), "upload_queries"),
        (ReadLimits(upload_judgments=1), "upload_judgments"),
    ):
        with pytest.raises(LimitExceeded, match=f"setting {name}"):
            read_dataset(path, limits=limits)
    assert ReadLimits()[3:] == (10 * 1024 * 1024, 1_000, 100)


def test_csv_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "query_key,query_text,uri,file_name,relevance_grade\n"
        "q1,where,file:///a,,3\nq2,who,,b.md,\nq1,,file:///c,ignored,0\n"
    )
    assert detect(path).name == "semantik-csv"
    data = read_dataset(path)
    assert data.query_ids == ("q1", "q2")
    assert data.targets(0) == [
        Target("file:///a", 3, ref="uri"),
        Target("file:///c", 0, ref="uri"),
    ]
    assert data.targets(1) == [Target("b.md", 2, ref="file_name")]


def test_csv_problems(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "query_key,query_text,uri,relevance_grade\nq1,where,a,9\nq1,else,b,1\n,x,a,1\n"
        "q2,,c,1\nq1,where,b,1\nq1,where,,1\nq1\n"
    )
    with pytest.raises(FormatError) as caught:
        read_dataset(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "grade '9' is out of range; expected 0 to 3"),
        (3, "query 'q1' has another text than on line 2"),
        (4, "the query key is empty"),
        (5, "query 'q2' has no text"),
        (6, "query 'q1' judges 'b' twice"),
        (7, "no reference; expected one of document_id, uri, content_hash, path, file_name"),
        (8, "1 cells; expected 4, as in the header"),
    ]
    path.write_text("query_key,uri,colour\nq1,a,b\n")
    with pytest.raises(FormatError) as caught:
        read_dataset(path, format="semantik-csv")
    assert [problem.message for problem in caught.value.problems] == [
        "unknown column 'colour'",
        "no column query_text or query",
    ]
