"""A run that returns just the targets of a gold set scores 1, whatever format the set has."""

import json
from pathlib import Path

import pytest

from karat.formats import read_dataset
from karat.model import Answer, Hit, Run, Target
from karat.scoring.matching import judge
from tests.formats.perfect import MODES, scores_of_the_targets

CASE = {"query": "where", "ground_truth_files": ["src/a.py", "src/b.py"]}
LINES = [
    {"path": "a.py", "start_line": 1, "end_line": 10, "grade": 1},
    {"path": "a.py", "start_line": 3, "end_line": 5, "grade": 2},
    {"path": "b.py", "grade": 1},
]
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
    "qrels.txt": "q1 0 d1 3\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 1\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("match", MODES)
def test_the_targets_themselves_are_a_perfect_answer(
    tmp_path: Path, name: str, match: str | None
) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert scores_of_the_targets(read_dataset(tmp_path / name), match) == {1.0}


def test_a_target_with_lines_leaves_the_files_of_other_queries_files(tmp_path: Path) -> None:
    (tmp_path / "mixed.json").write_text(FILES["mixed.json"])
    gold = read_dataset(tmp_path / "mixed.json")
    assert gold.match == "lines"
    chunks = tuple(Hit("src/x.py", -n, n, n) for n in range(1, 6))
    run = Run.of([Answer("1", (*chunks, Hit("src/a.py", -6, 1, 5), Hit("src/b.py", -7, 1, 5)))])
    assert judge(gold, run).queries[0].ranks == [2, 3]
    assert Target("src/a.py") in gold.targets(0)
