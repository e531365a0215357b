"""Logs of searches, as CSV and JSON lines."""

from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.extensions.import_log.log import Click, read_clicks


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log"
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    expected = (
        Click("log in", "a.py", "s1", 2, 1777636800.0, 12.5),
        Click("log out", "", "s2", 0, None, None),
    )
    rows = "log in,a.py,s1,2,2026-05-01T12:00:00Z,12.5\nlog out,,s2,,,\n"
    table = log(tmp_path, f"query,path,session,rank,time,dwell\n{rows}")
    assert read_clicks(table).clicks == expected
    lines = log(
        tmp_path,
        '{"q": "log in", "url": "a.py", "user": "s1", "position": 2, "timestamp": 1777636800, '
        '"dwell_s": 12.5}\n\n{"q": "log out", "url": null, "user": "s2"}\n',
    )
    assert read_clicks(lines).clicks == expected


def test_a_separator_within_a_query_ends_no_line(tmp_path: Path) -> None:
    path = log(tmp_path, '{"q": "log\u2028in", "url": "a.py"}\n')
    assert read_clicks(path).clicks == (Click("log\u2028in", "a.py"),)


def test_columns_may_be_named(tmp_path: Path) -> None:
    path = log(tmp_path, "words,file\nlog in,a.py\n")
    clicks = read_clicks(path, columns={"query": "words", "path": "file"})
    assert clicks.clicks == (Click("log in", "a.py"),)
    assert clicks.columns == {"query", "path"}


def test_common_names_are_known_in_any_case(tmp_path: Path) -> None:
    path = log(tmp_path, "Search_Term,clicked_url,user_id,session_id\nlog in,a.py,u1,s1\n")
    clicks = read_clicks(path)
    assert clicks.clicks == (Click("log in", "a.py", "s1"),)
    assert clicks.used == {"query": "Search_Term", "path": "clicked_url", "session": "session_id"}
    assert clicks.unused == ("user_id",)


@pytest.mark.parametrize("path", ["document", "doc_id"])
def test_a_result_that_was_only_shown_is_no_click(tmp_path: Path, path: str) -> None:
    table = log(tmp_path, f"query,{path},clicked\nlog in,a.py,1\nlog in,b.py,0\nlog in,c.py,\n")
    read = read_clicks(table)
    assert read.clicks == (Click("log in", "a.py"), Click("log in", ""), Click("log in", ""))
    assert read.used == {"query": "query", "path": path, "clicked": "clicked"}
    lines = log(tmp_path, '{"q": "log in", "doc": "a.py", "is_clicked": false}\n')
    assert read_clicks(lines).clicks == (Click("log in", ""),)


def test_a_column_clicked_may_hold_paths(tmp_path: Path) -> None:
    paths = log(tmp_path, "query,clicked\nlog in,a.py\nlog out,\n")
    assert read_clicks(paths).clicks == (Click("log in", "a.py"), Click("log out", ""))
    named = log(tmp_path, "query,clicked\nlog in,1\n")
    assert read_clicks(named, columns={"path": "clicked"}).clicks == (Click("log in", "1"),)


def test_a_named_column_clicked_has_only_marks(tmp_path: Path) -> None:
    path = log(tmp_path, "query,path,opened\nlog in,a.py,2\n")
    with pytest.raises(FormatError, match="clicked '2' is not 1 or 0, true or false"):
        read_clicks(path, columns={"clicked": "opened"})


@pytest.mark.parametrize(
    ("name", "columns", "dwell_s"),
    [
        ("dwell_ms", {}, 12.0),
        ("dwell_time_ms", {}, 12.0),
        ("dwell_time", {}, 12_000.0),
        ("stayed_ms", {"dwell": "stayed_ms"}, 12.0),
        ("stayed", {"dwell": "stayed"}, 12_000.0),
    ],
)
def test_the_unit_of_the_dwell_time_follows_the_name(
    tmp_path: Path, name: str, columns: dict[str, str], dwell_s: float
) -> None:
    path = log(tmp_path, f"query,path,{name}\nlog in,a.py,12000\n")
    assert read_clicks(path, columns=columns).clicks[0].dwell_s == dwell_s


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_separators_are_found(tmp_path: Path, mark: str) -> None:
    path = log(tmp_path, f"query{mark}path{mark}rank\nlog in, please{mark}a.py{mark}2\n")
    assert read_clicks(path).clicks == (Click("log in, please", "a.py", rank=2),)
    declared = log(tmp_path, f'sep={mark}\nquery{mark}path\nx{mark}"a{mark}b"\n')
    assert read_clicks(declared).clicks == (Click("x", f"a{mark}b"),)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "no column for the query; expected query or q"),
        ({}, "or name it with --column query=NAME; the log has words, path$"),
        ({"query": "text"}, "no column for the query; expected text; the log has words, path$"),
    ],
)
def test_a_column_that_is_not_there_is_told(
    tmp_path: Path, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        read_clicks(log(tmp_path, "words,path\nlog in,a.py\n"), columns=columns)


def test_a_column_that_karat_does_not_know_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'colour'"):
        read_clicks(log(tmp_path, "query,path\nx,a\n"), columns={"colour": "c"})


def test_all_bad_lines_are_told_at_once(tmp_path: Path) -> None:
    rows = [
        "query,path,rank,time,dwell",
        ",a,1,,",
        "x,a,0,,",
        "x,a,one,,",
        "x,a,,soon,",
        "x,a,,,-1",
    ]
    with pytest.raises(FormatError) as caught:
        read_clicks(log(tmp_path, "\n".join(rows) + "\n"))
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]


def test_a_short_row_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="log:3: 1 cells; expected 2"):
        read_clicks(log(tmp_path, "query,path\nx,a\nx\n"))
    with pytest.raises(FormatError, match="log:2: expected an object"):
        read_clicks(log(tmp_path, '{"query": "x", "path": "a"}\n[1]\n'))
