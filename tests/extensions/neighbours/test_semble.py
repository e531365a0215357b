import json
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats import read_dataset
from karat.model import Query, Target


def test_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    lined = {"path": "b.py", "start_line": 3, "end_line": 4}
    path.write_text(
        json.dumps(
            [
                {"query": "x", "relevant": ["a.py", lined], "secondary": ["c.py"], "category": "s"},
                {"query": "y", "relevant": []},
            ]
        )
    )
    data = read_dataset(path)
    assert data.match == "lines"
    assert list(data.queries()) == [
        Query(
            "1",
            "x",
            (Target("a.py", 2), Target("b.py", 2, 3, 4), Target("c.py", 1)),
            {"category": "s"},
        ),
        Query("2", "y"),
    ]


def test_problems(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '[{"query": "", "relevant": [""]},\n{"query": "x"},\n'
        '{"query": "x", "relevant": [{"path": "a", "start_line": 5, "end_line": 4}]}]'
    )
    with pytest.raises(FormatError) as caught:
        read_dataset(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (1, "[0].relevant[0]: the text is empty"),
        (1, "[0].query: the text is empty"),
        (2, "[1]: 'relevant' is missing"),
        (3, "[2].relevant[0]: end_line 4 is before start_line 5"),
    ]


def test_the_published_files(shared_data: Path) -> None:
    paths = sorted((shared_data / "semble" / "annotations").glob("*.json"))
    data = {path.stem: read_dataset(path) for path in paths}
    assert len(data) == 12
    assert sum(map(len, data.values())) == 237
    assert {name for name, dataset in data.items() if dataset.match == "lines"} == {
        "express",
        "rack",
    }
    assert {tag for dataset in data.values() for tag in dataset.tags["category"]} == {
        "architecture",
        "semantic",
        "symbol",
    }
