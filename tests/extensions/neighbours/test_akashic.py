"""Akashic's queries in YAML."""

from pathlib import Path

import pytest

from karat.errors import FormatError, LimitExceeded
from karat.formats import ReadLimits, read_dataset
from karat.model import Query, Target

QUERIES = """queries:
  - id: no
    query: "collision detection"
    category: function_search
    expected_files: ["Physics/Collision.cpp"]
    expected_symbols:
      - DetectCollision
  - id: 012
    query: how does it work
    expected_files:
      - a.cpp
    weight: 3
"""


def problems_of(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_dataset(path, format="akashic")
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "queries.yaml"
    path.write_text(QUERIES)
    data = read_dataset(path)
    assert data.match == "akashic"
    assert list(data.queries()) == [
        Query(
            "no",
            "collision detection",
            (Target("Physics/Collision.cpp"), Target("", symbol="DetectCollision")),
            {"category": "function_search"},
        ),
        Query("012", "how does it work", (Target("a.cpp"),), {}, {"weight": "3"}),
    ]


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    text = """queries:
  - id: a
    query: ""
    expected_files: [""]
  - id: a
    query: text
  - query: text
    expected_files: x.cpp
  - id: b
    query: [1]
    expected_symbols: [f, f]
"""
    assert problems_of(tmp_path / "q.yaml", text) == [
        (3, "queries[0].query: the text is empty"),
        (4, "queries[0].expected_files[0]: the text is empty"),
        (5, "queries[1]: neither expected_files nor expected_symbols has an entry"),
        (5, "queries[1]: id 'a' appears more than once"),
        (7, "queries[2]: neither expected_files nor expected_symbols has an entry"),
        (7, "queries[2]: 'id' is missing"),
        (8, "queries[2].expected_files: expected a list, found text"),
        (10, "queries[3].query: expected text, found a list"),
        (11, "queries[3].expected_symbols[1]: entry 'f' appears more than once"),
    ]


def test_limit_and_encoding(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(QUERIES)
    with pytest.raises(LimitExceeded, match="setting yaml_bytes"):
        read_dataset(path, limits=ReadLimits(yaml_bytes=10))
    path.write_bytes(b"queries:\n- id: \xe9\n")
    with pytest.raises(FormatError, match=r"q\.yaml:2: byte 0xe9 at column 7 is not UTF-8"):
        read_dataset(path)
