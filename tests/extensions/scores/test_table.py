"""Tables of scores, long and wide, in every container."""

import json
from math import isnan
from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.extensions.scores.readers import ReadScores, ScoreOptions, read_scores

LONG = """question,model,accuracy,f1,cost,level
q1,gpt,1,0.5,0.01,easy
q1,llama,0,0.25,0.001,easy
q2,gpt,1,0.75,0.02,hard
q2,llama,true,0.5,0.002,hard
q3,gpt,0,0.1,0.03,hard
q3,llama,,,0.002,hard
"""


def read(folder: Path, text: str, name: str = "scores.csv", **options: object) -> ReadScores:
    path = folder / name
    path.write_text(text)
    return read_scores([path], ScoreOptions(**options))  # type: ignore[arg-type] # of the test


def test_a_long_table(tmp_path: Path) -> None:
    scores, preview, remarks = read(tmp_path, LONG)
    assert preview == (
        "scores.csv: system = model, query = question, 3 measures: accuracy (0/1), f1, "
        "cost (lower is better); 2 systems, 3 queries"
    )
    assert remarks == ()
    assert scores.column("gpt", "f1") == [0.5, 0.75, 0.1]
    assert scores.column("llama", "accuracy")[:2] == [0.0, 1.0]
    assert isnan(scores.column("llama", "accuracy")[2])
    assert scores.tags == {"level": ("easy", "hard", "hard")}
    assert scores.texts == ("", "", "")


def test_a_wide_table_has_a_column_for_each_system(tmp_path: Path) -> None:
    scores, preview, _ = read(tmp_path, "id;bm25;dense;kind\n1;0,5;0.1;x\n".replace("0,5", "0.5"))
    assert scores.systems == ("bm25", "dense")
    assert scores.column("dense", "score") == [0.1]
    assert preview == (
        "scores.csv: system = the columns 'bm25' and 'dense', query = id, 1 measure: score; "
        "2 systems, 1 query"
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.tsv", "a.parquet"])
def test_containers(tmp_path: Path, name: str) -> None:
    rows = [
        {"sample": f"s{n}", "system": system, "passed": n % 2, "text": "why"}
        for n in range(4)
        for system in ("a", "b")
    ]
    path = tmp_path / name
    if name.endswith("parquet"):
        pytest.importorskip("polars").DataFrame(rows).write_parquet(path)
    elif name.endswith("tsv"):
        lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines))
    else:
        text = "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows)
        path.write_text(text)
    scores = read_scores([path]).scores
    assert scores.column("b", "passed") == [0.0, 1.0, 0.0, 1.0]
    assert scores.texts == ("why",) * 4


def test_objects_in_cells_are_columns(tmp_path: Path) -> None:
    rows = [{"id": "q", "system": name, "scores": {"f1": 0.5, "em": True}} for name in "ab"]
    scores = read(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl").scores
    assert [each.text for each in scores.measures] == ["f1", "em (0/1)"]


def test_trials_tasks_and_clusters(tmp_path: Path) -> None:
    lines = ["task,instance_id,template,agent,epoch,resolved"]
    lines += [
        f"{task},{n},r{n % 2},{agent},{trial},{(n + trial) % 2}"
        for task in ("fix", "add")
        for n in range(2)
        for agent in ("x", "y")
        for trial in (1, 2, 3)
    ]
    scores, preview, _ = read(tmp_path, "\n".join(lines))
    assert (scores.trials, scores.cluster) == (3, "template")
    assert scores.query_ids == ("fix/0", "fix/1", "add/0", "add/1")
    assert scores.tags["task"] == ("fix", "fix", "add", "add")
    assert next(scores.trial_scores("x", "resolved")) == [1.0, 0.0, 1.0]
    assert "trial = epoch, task = task, cluster = template" in preview
    assert preview.endswith("2 systems, 4 queries, 3 trials")


def test_repeated_rows_are_trials(tmp_path: Path) -> None:
    scores = read(tmp_path, "query,system,score\nq,a,1\nq,a,0\nq,b,1\n").scores
    assert scores.trials == 2
    assert scores.column("a", "score") == [0.5]


def test_one_score_for_each_task(tmp_path: Path) -> None:
    scores = read(tmp_path, "model,task,score\nm1,t1,81.5\nm1,t2,40\nm2,t1,80\n").scores
    assert scores.query_ids == ("t1", "t2")
    assert scores.measures[0].kind == "free"


def test_an_error_is_a_failure_and_not_a_score(tmp_path: Path) -> None:
    scores = read(tmp_path, "query,system,score,error\nq,a,,timeout\nq,b,1,\nr,b,0,\n").scores
    assert [each.name for each in scores.query_statuses("a")] == ["ERROR", "MISSING"]
    errors = read(tmp_path, "query,system,error\nq,a,0.3\nq,b,0.1\n").scores
    assert errors.measure("error").lower_is_better


def test_columns_that_are_named(tmp_path: Path) -> None:
    text = "what,who,good,bad,other\nq,a,1,2,3\nq,b,0,3,4\n"
    columns = {"query": "what", "system": "who", "score": "good,bad"}
    scores = read(tmp_path, text, columns=columns, lower=("bad",)).scores
    assert [each.text for each in scores.measures] == ["good (0/1)", "bad (lower is better)"]
    with pytest.raises(InputError, match="no column 'x' for the query; the file has 'what'"):
        read(tmp_path, text, columns={"query": "x"})
    with pytest.raises(InputError, match="column 'who' has cells that are not numbers"):
        read(tmp_path, text, columns={"query": "what", "system": "good", "score": "who"})
    with pytest.raises(InputError, match="scores have no column 'document'; expected --column"):
        read(tmp_path, text, columns={"document": "what"})


def test_problems_are_reported_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="csv:3: the query is empty"):
        read(tmp_path, "query,system,score\nq,a,1\n,b,1\n")
    with pytest.raises(FormatError, match="no column has scores; the header is 'query', 'system'"):
        read(tmp_path, "query,system\nq,a\nq,b\n")
    with pytest.raises(FormatError, match="no column is recognised as the query"):
        read(tmp_path, "system,score\na,1\nb,1\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,system,score\nq,a,1\nq,b,0\nr,a,abc\n", "4: score 'abc' is not a number; expected"),
        ("query,system,score,s\nq,a,1,1\nq,b,0,2\nr,a,abc,3\n", "4: score 'abc' is not a number"),
        ("query,system,f1\nq,a,1\nq,b,n/a\nr,a,0\nr,b,o.5\n", "5: f1 'o.5' is not a number"),
        (
            "query,a,b\n" + "".join(f"q{n},{n},{n}\n" for n in range(10)) + "q,1,x\n",
            "12: b 'x' is not a number",
        ),
    ],
)
def test_a_cell_that_is_not_a_number_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(tmp_path, text)
    assert str(caught.value).count("\n") == 0
    assert f"csv:{message}" in str(caught.value)


def test_a_column_with_some_numbers_may_be_a_tag(tmp_path: Path) -> None:
    lines = ["query,system,f1,version"]
    lines += [
        f"q{n},{name},{n / 9},{'beta' if n == 4 else n % 3}" for n in range(9) for name in "ab"
    ]
    scores = read(tmp_path, "\n".join(lines)).scores
    assert [each.name for each in scores.measures] == ["f1"]
    assert set(scores.tags["version"]) == {"0", "1", "2", "beta"}


def test_a_name_that_is_perhaps_mistyped(tmp_path: Path) -> None:
    rows = [f"q{n},{name},1" for n in range(10) for name in ("base", "bigmodel")]
    rows[5] = "q2,bigmodle,1"
    text = "\n".join(["query,system,score", *rows])
    remark = "system 'bigmodle' has 1 of 10 queries; did you mean 'bigmodel'?"
    assert read(tmp_path, text).remarks == (remark,)
    assert read(tmp_path, text.replace("bigmodle", "other")).remarks == ()
    rows += [f"q{n},bigmodle,1" for n in range(3, 9)]
    assert read(tmp_path, "\n".join(["query,system,score", *rows])).remarks == ()


def test_numbers_that_describe_queries_are_not_scores(tmp_path: Path) -> None:
    lines = ["query,system,score,hops"]
    lines += [f"q{n},{name},{n / 10},{n % 3}" for n in range(8) for name in "ab"]
    scores = read(tmp_path, "\n".join(lines)).scores
    assert [each.name for each in scores.measures] == ["score"]
    assert set(scores.tags["hops"]) == {"0", "1", "2"}


def test_equal_trials_of_one_system_are_scores(tmp_path: Path) -> None:
    lines = ["query,system,trial,score,calls"]
    lines += [f"q{n},a,{trial},{n / 10},{n % 3}" for n in range(8) for trial in (1, 2)]
    scores = read(tmp_path, "\n".join(lines)).scores
    assert [each.name for each in scores.measures] == ["score", "calls"]


def test_a_file_without_systems_is_one_of_several(tmp_path: Path) -> None:
    for name, score in (("old", 0.25), ("new", 0.75)):
        (tmp_path / f"{name}.csv").write_text(f"question,f1,em\nq1,{score},1\nq2,0.5,0\n")
    scores, preview, _ = read_scores([tmp_path / "old.csv", tmp_path / "new.csv"])
    assert scores.systems == ("old", "new")
    assert scores.column("new", "f1") == [0.75, 0.5]
    assert "system = the file, query = question, 2 measures: f1, em (0/1)" in preview


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.csv").write_text("question,f1\nq1,0.5\n")
    paths = [tmp_path / folder / "s.csv" for folder in ("one", "two")]
    assert read_scores(paths).scores.systems == ("one/s.csv", "two/s.csv")


def test_systems_of_several_files(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_text("query,system,score\nq,gpt,1\n")
    scores = read_scores([tmp_path / "old.csv", tmp_path / "new.csv"]).scores
    assert scores.systems == ("gpt (old)", "gpt (new)")
    (tmp_path / "new.csv").write_text("query,system,score\nr,gpt,1\n")
    assert read_scores([tmp_path / "old.csv", tmp_path / "new.csv"]).scores.systems == ("gpt",)
