from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.formats import read_dataset, write
from karat.model import Dataset, Query, Target


def problems_of(path: Path) -> list[tuple[int, str]]:
    with pytest.raises(FormatError) as caught:
        read_dataset(path, format="octocode")
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(
        'query,result1,result2,lang\r\n"where, exactly",src/a.rs:41-61:2,C:/b.rs:1-1:1,rust\r\n'
        "how,a.rs:2-3:0.5,,\r\n",
        encoding="utf-8-sig",
        newline="",
    )
    data = read_dataset(path)
    assert data.match == "lines"
    assert list(data.queries()) == [
        Query(
            "1",
            "where, exactly",
            (Target("src/a.rs", 2, 41, 61), Target("C:/b.rs", 1, 1, 1)),
            {"lang": "rust"},
        ),
        Query("2", "how", (Target("a.rs", 0.5, 2, 3),)),
    ]


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(
        'query,result1,result2\n"two\nlines",a.rs:9-3:2,\n,a.rs:1-2:1,\nx,a.rs:0-2:1,a.rs:1-2:x\n'
        "x,a.rs\nx,a.rs:1-2,:1-2:1\nx,a.rs:1-2:-1,a.rs:1-2:nan\n"
    )
    expected = "expected path:first-last:grade, or a path alone"
    assert problems_of(path) == [
        (2, "'a.rs:9-3:2' ends before it starts"),
        (4, "the query is empty"),
        (5, "'a.rs:0-2:1' starts at line 0; lines count from 1"),
        (5, f"grade 'x' is not a number of 0 or more; {expected}"),
        (6, "2 cells; expected 3, as in the header"),
        (7, f"'a.rs:1-2' is not a result; {expected}"),
        (7, f"':1-2:1' has no path; {expected}"),
        (8, f"grade '-1' is not a number of 0 or more; {expected}"),
        (8, f"grade 'nan' is not a number of 0 or more; {expected}"),
    ]


def test_a_plain_path_is_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text("query,result1,result2\nhow,deployment/heroku.md,a.rs:2-3:2\n")
    (query,) = read_dataset(path).queries()
    assert query.targets == (Target("deployment/heroku.md"), Target("a.rs", 2, 2, 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query\nx\n", "expected the header query,result1,result2,..."),
        ("query,result1,result1\n", "column 'result1' appears twice"),
        ("query,result1,\n", "a column has no name"),
        ("query,result1\n", "no row after the header"),
        ('query,result1\n"a,b\n', "not CSV: unexpected end of data"),
        ('query,result1\n"a"b,c\n', "not CSV: ',' expected after '\"'"),
        ("id,query,result1\na,x,\na,y,\n", "id 'a' appears first on line 2"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "code.csv"
    path.write_text(text)
    assert message in [problem for _, problem in problems_of(path)]


def test_tags_by_row_number(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text("query,result1\n" + "".join(f"q{n},a:1-2:1\n" for n in range(5)))
    data = read_dataset(path, tags=["hard=2-3", "hard=5-5"])
    assert data.tags == {"hard": ("standard", "hard", "hard", "standard", "hard")}
    for wrong in ("hard=0-1", "hard=4-6", "hard=3-2", "hard", "=1-2"):
        with pytest.raises(InputError, match="tag"):
            read_dataset(path, tags=[wrong])


def test_formulas_are_guarded(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    data = Dataset.of([Query("1", "=cmd()", (Target("-a.rs", 1, 1, 2),))])
    write(data, path, format="octocode")
    assert path.read_text().splitlines()[1] == "'=cmd(),'-a.rs:1-2:1,,"
    assert list(read_dataset(path).queries()) == list(data.queries())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query("1", "q", (Target(" a.rs", 1, 1, 2),)), "cannot hold the path ' a.rs'"),
        (Query("1", "q", (), {"result9": "x"}), "reserves the column 'result9'"),
        (Query("1", "q", (Target("a.rs"),)), "targets or hits without a line range"),
        (Query("1", "", ()), "queries without text"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, query: Query, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write(Dataset.of([query]), tmp_path / "x.csv", format="octocode")
    assert not list(tmp_path.iterdir())


def test_the_published_file(shared_data: Path) -> None:
    data = read_dataset(shared_data / "octocode" / "code.csv", tags=["hard=101-127"])
    assert len(data) == 127
    assert data.tags["hard"].count("hard") == 27
    assert set(data.grades) == {1.0, 2.0}
    assert all(1 <= len(query.targets) <= 3 for query in data.queries())
