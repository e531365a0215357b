"""A run that returns just the targets of a gold set scores 1, whatever format the set has."""

import json
from pathlib import Path

import pytest

from karat.formats import read_dataset, write
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.scoring.matching import judge
from karat.scoring.metrics import evaluate, parse

MEASURES = [parse(name) for name in ("ndcg", "ap", "recall", "set-f1")]
CASE = {"query": "where", "ground_truth_files": ["src/a.py", "src/b.py"]}
LINES = [
    {"path": "a.py", "start_line": 1, "end_line": 10, "grade": 1},
    {"path": "a.py", "start_line": 3, "end_line": 5, "grade": 2},
    {"path": "b.py", "grade": 1},
]
AKASHIC = """queries:
  - {id: both, query: q, expected_files: [src/a.cpp, src/b.h], expected_symbols: [Run]}
  - {id: one, query: q, expected_files: [src/a.cpp], expected_symbols: [Run, Stop]}
  - {id: files, query: q, expected_files: [src/a.cpp]}
  - {id: symbols, query: q, expected_symbols: [Run, Stop]}
"""
FILES = {
    "gold.json": json.dumps({"test_cases": [CASE | {"id": "1"}], "metadata": {}}),
    "mixed.json": json.dumps(
        {
            "format": "karat-gold",
            "version": 1,
            "test_cases": [CASE | {"id": "1"}, {"id": "2", "query": "q", "targets": LINES}],
            "metadata": {},
        }
    ),
    "octocode.csv": (
        "query,result1,result2,result3\n"
        "overlap,a.py:1-10:1,a.py:5-15:2,a.py:8-9:1\n"
        "same,a.py:1-5:1,b.py:1-5:2,\n"
    ),
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
    "qrels.txt": "q1 0 d1 3\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 1\n",
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


def perfect(query: Query) -> Answer:
    """Return the targets as hits, the best first; a symbol comes with a file where there is one."""
    relevant = sorted((t for t in query.targets if t.grade > 0), key=lambda t: -t.grade)
    files = [target for target in relevant if target.path]
    names = [target.symbol for target in relevant if not target.path]
    hits = [Hit(t.path, -rank, t.start_line, t.end_line, t.symbol) for rank, t in enumerate(files)]
    for rank, name in enumerate(names):
        if not files:
            hits.append(Hit("any.cpp", -rank, symbol=name))
        elif rank < len(hits):
            hits[rank] = hits[rank]._replace(symbol=name)
    return Answer(query.id, tuple(dict.fromkeys(hits)))


def scores(gold: Dataset, match: str | None) -> list[float]:
    run = Run.of(map(perfect, gold.queries()))
    table = evaluate(judge(gold, run, match=match), MEASURES)
    return [score for column in table.columns.values() for score in column]


MODES = (None, "exact", "suffix", "substring", "directory", "lines", "graded")


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
    gold = read_dataset(tmp_path / name)
    assert scores(gold, match) == pytest.approx([1.0] * (len(MEASURES) * len(gold)))


def test_symbols_that_are_evidence_survive_a_round_trip(tmp_path: Path) -> None:
    (tmp_path / "akashic.yaml").write_text(AKASHIC)
    gold = read_dataset(tmp_path / "akashic.yaml")
    for name, chosen in (("gold.json", "gold"), ("again.yaml", "akashic")):
        write(gold, tmp_path / name, format=chosen)
        again = read_dataset(tmp_path / name)
        assert [query.targets for query in again.queries()] == [q.targets for q in gold.queries()]
        assert again.match == "akashic"


def test_a_target_with_lines_leaves_the_files_of_other_queries_files(tmp_path: Path) -> None:
    (tmp_path / "mixed.json").write_text(FILES["mixed.json"])
    gold = read_dataset(tmp_path / "mixed.json")
    assert gold.match == "lines"
    chunks = tuple(Hit("src/x.py", -n, n, n) for n in range(1, 6))
    run = Run.of([Answer("1", (*chunks, Hit("src/a.py", -6, 1, 5), Hit("src/b.py", -7, 1, 5)))])
    assert judge(gold, run).queries[0].ranks == [2, 3]
    assert Target("src/a.py") in gold.targets(0)
