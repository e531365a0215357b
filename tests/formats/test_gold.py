import json
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats import read_dataset, write
from karat.formats.gold import gold_digest
from karat.model import Dataset, Query, Target

PLAIN = {
    "test_cases": [
        {
            "id": "abc123",
            "commit_hash": "a1b2c3d4",
            "query": "fix authentication bug in login flow",
            "ground_truth_files": ["backend/auth/login.py", "backend/auth/session.py"],
            "complexity": "medium",
            "timestamp": "2024-03-15T10:30:00Z",
        }
    ],
    "metadata": {"repository": "example/repo", "total_commits_analyzed": 1500},
}


def problems_of(path: Path) -> list[tuple[int, str]]:
    with pytest.raises(FormatError) as caught:
        read_dataset(path, format="gold")
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_a_plain_file_loads(tmp_path: Path) -> None:
    path = tmp_path / "gold_set.json"
    path.write_text(json.dumps(PLAIN))
    data = read_dataset(path)
    assert list(data.queries()) == [
        Query(
            "abc123",
            "fix authentication bug in login flow",
            (Target("backend/auth/login.py"), Target("backend/auth/session.py")),
            {"complexity": "medium"},
            {"commit_hash": "a1b2c3d4", "timestamp": "2024-03-15T10:30:00Z"},
        )
    ]
    assert data.match == "exact"
    assert data.metadata["repository"] == "example/repo"


def test_a_written_file_is_still_a_plain_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps(PLAIN))
    write(read_dataset(first), second)
    case = json.loads(second.read_text())["test_cases"][0]
    assert {key: case[key] for key in PLAIN["test_cases"][0]} == PLAIN["test_cases"][0]  # type: ignore[index]


def test_line_ranges_say_how_to_match(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    target = {"path": "a.py", "start_line": 3, "end_line": 9, "symbol": "f", "grade": 2}
    path.write_text(json.dumps({"test_cases": [{"id": 7, "query": "q", "targets": [target]}]}))
    data = read_dataset(path)
    assert data.query_ids == ("7",)
    assert data.targets(0) == [Target("a.py", 2, 3, 9, "f")]
    assert data.match == "lines"


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        """{"format": "karat-gold", "version": 1,
"test_cases": [
 {"id": "a", "query": "",
  "targets": [{"path": "x", "start_line": 9, "end_line": 3},
              {"path": "x", "start_line": 0, "end_line": 3}]},
 {"id": "a", "qurey": "text",
  "query": "text", "ground_truth_files": ["x", 5]},
 {"query": "text",
  "targets": [{"path": "", "grade": -1},
              {"symbol": "f", "grade": "high"}]},
 7
]}"""
    )
    assert problems_of(path) == [
        (3, "test_cases[0].query: the text is empty"),
        (4, "test_cases[0].targets[0]: end_line 3 is before start_line 9"),
        (5, "test_cases[0].targets[1].start_line: 0 is out of range; expected 1 or more"),
        (5, "test_cases[0].targets[1]: start_line and end_line must be given together"),
        (6, "test_cases[1].qurey: unknown key; did you mean 'query'?"),
        (6, "test_cases[1]: id 'a' appears more than once"),
        (7, "test_cases[1].ground_truth_files[1]: expected text, found a number"),
        (8, "test_cases[2]: 'id' is missing"),
        (9, "test_cases[2].targets[0].path: the text is empty"),
        (9, "test_cases[2].targets[0].grade: -1 is out of range; expected 0 or more"),
        (10, "test_cases[2].targets[1].grade: expected a number, found text"),
        (11, "test_cases[3]: expected an object, found a number"),
    ]


def test_files_and_targets_must_agree(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    case = {"id": "a", "query": "q", "ground_truth_files": ["a"], "targets": [{"path": "b"}]}
    path.write_text(json.dumps({"test_cases": [case]}))
    assert problems_of(path) == [
        (1, "test_cases[0]: 'ground_truth_files' and 'targets' name different relevant files")
    ]


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text('{"format": "karat-gold",\n"version": 2, "test_cases": []}')
    assert problems_of(path) == [
        (2, "version: unknown version; expected 1"),
        (2, "test_cases: the list is empty"),
    ]


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    query = Query("a", "login", (Target("a.py", 2.0), Target("b.py")), {"area": "x"}, {"note": [1]})
    data = Dataset.of([query, Query("b", "mail")], name="one", metadata={"seed": 1})
    write(data, path)
    assert gold_digest(read_dataset(path)) == gold_digest(data)
    renamed = Dataset.of(data.queries(), name="two", metadata={"seed": 2})
    assert gold_digest(renamed) == gold_digest(data)
    for other in (
        Dataset.of(data.queries(), match="suffix"),
        Dataset.of(reversed(list(data.queries()))),
        Dataset.of([query._replace(targets=(Target("a.py"), Target("b.py"))), Query("b", "mail")]),
        Dataset.of([query._replace(tags={}), Query("b", "mail")]),
    ):
        assert gold_digest(other) != gold_digest(data)


def test_targets_may_name_subtopics(tmp_path: Path) -> None:
    gold = Dataset.of([Query("q1", "cars", (Target("a", subtopics=("price", "age")), Target("b")))])
    path = tmp_path / "gold.json"
    write(gold, path)
    assert '"subtopics"' in path.read_text(encoding="utf-8")
    assert list(read_dataset(path).queries()) == list(gold.queries())
    assert read_dataset(path).subtopics == {0: ("price", "age")}
