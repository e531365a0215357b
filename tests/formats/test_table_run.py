"""Plain tables of results."""

from pathlib import Path

import pytest

from karat import evaluate
from karat.errors import FormatError
from karat.formats import detect, read_run
from karat.model import Hit


@pytest.mark.parametrize(
    "text",
    [
        "query_id,document,score\nq1,b,1\nq1,a,2.5\nq2,a,1\n",
        "qid;doc_id;Score\nq1;b;1\nq1;a;2.5\nq2;a;1\n",
        "query_id\tpath\trank\tscore\nq1\tb\t2\t1\nq1\ta\t1\t2.5\nq2\ta\t1\t1\n",
    ],
)
def test_order(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(text)
    assert detect(path, kind="run").name == "csv-run"
    first, second = read_run(path).answers()
    assert (first.query_id, first.hits) == ("q1", (Hit("a", 2.5), Hit("b", 1)))
    assert second.hits == (Hit("a", 1),)


def test_queries_by_their_text(tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.csv", tmp_path / "run.csv"
    gold.write_text("question,document\nwho,a.md\nhow,b.md\n")
    run.write_text("question,document,rank\nwho,x.md,1\nwho,a.md,2\nhow,b.md,1\n")
    assert evaluate(gold, run, ["mrr"], confidence=None)["mrr"] == 0.75


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query_id,document,score\nq1,,1\n", "run.csv:2: the document is empty"),
        ("query_id,document,score\n,a,1\n", "run.csv:2: the query is empty"),
        ("query_id,document,score\nq1,a,x\n", "run.csv:2: score 'x' is not a number"),
        ("a,b\n1,2\n", "no column query_id and document and score; the header is 'a', 'b'"),
    ],
)
def test_problems(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_run(path, format="csv-run")
    assert message in str(caught.value)
