from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.formats import detect, read, read_dataset, read_judgments, write
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
        (3, "grade 'x' is not a finite number"),
        (4, "grade 'nan' is not a finite number"),
        (
            5,
            "'d1' is judged twice for query 'q1'; if the second column is a subtopic, the format "
            "is trec-diversity",
        ),
        (6, "grade '1_0' is not a finite number"),
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


def test_subtopics_are_read_from_the_second_column(tmp_path: Path) -> None:
    path = tmp_path / "div.qrels"
    path.write_text("51 1 a 1\n51 1 b 0\n51 2 a 2\n51 2 c 1\n52 0 a 1\n52 0 b 1\n")
    gold = read(path, format="trec-diversity")
    assert isinstance(gold, Dataset)
    assert [(t.path, t.grade, t.subtopics) for t in gold.targets(0)] == [
        ("a", 2.0, ("1", "2")),
        ("b", 0.0, ()),
        ("c", 1.0, ("2",)),
    ]
    assert [target.subtopics for target in gold.targets(1)] == [(), ()]


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ("51 1 a 1\n51 2 a 1\n", "trec-diversity"),
        ("# made by hand\n51 1 a 1\n52 1 b 1\n51 2 c 1\n", "trec-diversity"),
        ("51 1 a 1\n52 1 b 1\n", "trec-qrels"),
        ("51 0 a 1\n51 1 b 1\n", "trec-qrels"),
        ("1 0.5 a 1\n1 1 b 1\n1 4 c 0\n", "trec-qrels"),
        ("1 Q0 a 1 0.5 t\n", "trec-run"),
    ],
)
def test_the_second_column_tells_subtopics_from_iterations(
    rows: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text(rows)
    assert detect(path).name == name
