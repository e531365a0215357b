from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.formats import read_dataset, read_judgments, write
from karat.model import Dataset, Query, Target


def test_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "x.qrels"
    path.write_bytes(b"\xef\xbb\xbf# comment\r\nq1 0 d1 2\r\nq2\t0   d#2\t-1\r\n\r\nq1 0 d3 0\r\n")
    assert read_judgments(path) == {"q1": {"d1": 2.0, "d3": 0.0}, "q2": {"d#2": -1.0}}
    data = read_dataset(path)
    assert data.match == "document"
    assert data.targets(0) == [Target("d1", 2), Target("d3", 0)]


def test_all_problems_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.qrels"
    path.write_bytes(
        b"q1 0 d1 1\nq1 0 d2\nq1 0 d3 x\nq1 0 d4 nan\nq1 0 d1 0\n"
        b"q1 0 d5 1_0\nq1 0 \xff 1\nq1 0 a b 1\n"
    )
    with pytest.raises(FormatError) as caught:
        read_judgments(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "3 fields; expected 4"),
        (3, "grade 'x' is no finite number"),
        (4, "grade 'nan' is no finite number"),
        (5, "'d1' is judged twice for query 'q1'"),
        (6, "grade '1_0' is no finite number"),
        (7, "byte 0xff at column 1 is not UTF-8"),
        (8, "5 fields; expected 4"),
    ]


def test_nothing_but_comments(tmp_path: Path) -> None:
    path = tmp_path / "x.qrels"
    path.write_text("# only\n")
    with pytest.raises(FormatError, match="no judgment in the file"):
        read_judgments(path)


def test_an_id_with_a_blank_cannot_be_written(tmp_path: Path) -> None:
    data = Dataset.of([Query("q1", "", (Target("my file.py"),))])
    with pytest.raises(InputError, match=r"cannot hold the id 'my file\.py'"):
        write(data, tmp_path / "x.qrels")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "queries", "judgments"),
    [
        ("qrels.test", 3, 3681),
        ("qrels.test.with-comments", 3, 3681),
        ("qrels.comment.test", 31, 5890),
        ("qrels.rel_level", 3, 3681),
    ],
)
def test_trec_evals_own_files(shared_data: Path, name: str, queries: int, judgments: int) -> None:
    judged = read_judgments(shared_data / "trec_eval" / name)
    assert (len(judged), sum(map(len, judged.values()))) == (queries, judgments)


def test_agrees_with_pytrec_eval(shared_data: Path) -> None:
    import pytrec_eval

    for path in sorted((shared_data / "golden").glob("*.qrels")):
        with path.open(encoding="utf-8") as stream:
            assert read_judgments(path) == pytrec_eval.parse_qrel(stream)
