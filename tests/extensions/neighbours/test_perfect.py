"""A run that returns just the targets of a gold set scores 1, whatever format the set has."""

import json
from pathlib import Path

import pytest

from karat.formats import read_dataset, write
from tests.formats.perfect import MODES, scores_of_the_targets

AKASHIC = """queries:
  - {id: both, query: q, expected_files: [src/a.cpp, src/b.h], expected_symbols: [Run]}
  - {id: one, query: q, expected_files: [src/a.cpp], expected_symbols: [Run, Stop]}
  - {id: files, query: q, expected_files: [src/a.cpp]}
  - {id: symbols, query: q, expected_symbols: [Run, Stop]}
"""
FILES = {
    "akashic.yaml": AKASHIC,
    "semantik.json": json.dumps(
        {
            "schema_version": "1.0",
            "queries": [
                {
                    "query_key": "k",
                    "query_text": "t",
                    "relevant_docs": [
                        {"doc_ref": {"path": "a.md"}, "relevance_grade": 3},
                        {"doc_ref": {"path": "b.md"}, "relevance_grade": 1},
                    ],
                }
            ],
        }
    ),
    "semble.json": json.dumps(
        [
            {
                "query": "q",
                "relevant": ["a.py", {"path": "b.py", "start_line": 2, "end_line": 9}],
                "secondary": ["c.py"],
                "category": "x",
            },
            {"query": "r", "relevant": ["a.py"], "secondary": [], "category": "x"},
        ]
    ),
}


# A symbol without a path needs a mode that knows symbols.
@pytest.mark.parametrize(
    ("name", "match"),
    [
        (name, match)
        for name in FILES
        for match in ((None, "graded") if name == "akashic.yaml" else MODES)
    ],
)
def test_the_targets_themselves_are_a_perfect_answer(
    tmp_path: Path, name: str, match: str | None
) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert scores_of_the_targets(read_dataset(tmp_path / name), match) == {1.0}


def test_symbols_that_are_evidence_survive_a_round_trip(tmp_path: Path) -> None:
    (tmp_path / "akashic.yaml").write_text(AKASHIC)
    gold = read_dataset(tmp_path / "akashic.yaml")
    for name, chosen in (("gold.json", "gold"), ("again.yaml", "akashic")):
        write(gold, tmp_path / name, format=chosen)
        again = read_dataset(tmp_path / name)
        assert [query.targets for query in again.queries()] == [q.targets for q in gold.queries()]
        assert again.match == "akashic"
