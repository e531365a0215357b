"""Bytes in and out: encodings, strict JSON, guarded CSV, writes that are whole or not at all."""

import csv
import io
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import FormatError, InputError
from karat.formats.jsontext import dumps, load_json, parse_json, positions
from karat.formats.records import guard, read_rows, render_rows, unguard
from karat.formats.source import Problems, read_text
from karat.system.files import replacing, write_text

CELLS = st.text(st.characters(codec="utf-8"), max_size=6)


def message_of(text: str) -> str:
    with pytest.raises(FormatError) as caught:
        parse_json(text, "x.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ab\ncd\xff\n\xfe", r":2: byte 0xff at column 3 is not UTF-8\n.*:3: byte 0xfe"),
        ("xy".encode("utf-16-le"), "the file is UTF-16; expected UTF-8"),
        (b"\xff\xfex", "has a UTF-16 mark, but byte 3 is not UTF-16"),
        (b"\n \t", "the file is empty"),
    ],
)
def test_encodings(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_text(path, limit=100, setting="bytes")


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "no" / "folder", "x")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot be read"):
        read_text(loop, limit=100, setting="bytes")


@pytest.mark.skipif(os.name != "posix", reason="/dev/fd belongs to POSIX systems")
def test_a_pipe_is_refused_in_a_sentence() -> None:
    end, start = os.pipe()
    os.write(start, b"q1 Q0 d1 1 1.0 r\n")
    os.close(start)
    with pytest.raises(InputError, match="is a pipe, which can be read only once; write it to"):
        read_text(f"/dev/fd/{end}", limit=100, setting="x")
    os.close(end)


@pytest.mark.skipif(os.name != "posix", reason="a named pipe is a file of POSIX systems")
@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "first\n")
        write_text(pipe, "second\n")
        assert os.read(reader, 100) == b"first\nsecond\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_folder_is_no_place_to_write_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        write_text(tmp_path, "x")


def test_problems_are_bounded_and_sorted() -> None:
    problems = Problems("x")
    for line in range(20_000, 0, -1):
        problems.add(line, "bad")
    assert len(problems) == 10_000
    with pytest.raises(FormatError, match=r"^x:10001: bad"):
        problems.finish()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n"b": {"c": 1,\n"c": 2},\n"a": 3}', "x.json:3: key 'c' appears twice"),
        ('{"a": 1,\n"a": {"b": 1,\n"b": 2}}', "x.json:2: key 'a' appears twice"),
        ('["NaN",\nNaN]', "x.json:2: NaN is not a JSON number"),
        ("[1,\n-Infinity]", "x.json:2: -Infinity is not a JSON number"),
        ("[1,\n2 3]", "x.json:2: not JSON: Expecting ',' delimiter at column 3"),
        ('["ab', "x.json:1: not JSON: Unterminated string starting at column 2"),
        ('{"a":\n"\\ud800"}', "x.json:2: text has half of a surrogate pair"),
        ("[" * 100_000, "x.json: nested too deeply"),
        ("[\n" + "9" * 5_000 + "]", "x.json:2: Exceeds the limit"),
    ],
)
def test_json_that_is_refused(text: str, message: str) -> None:
    assert message_of(text).splitlines()[0].startswith(message)


def test_both_duplicates_are_named() -> None:
    assert message_of('{"a": 1, "a": {"b": 1,\n"b": 2}}').splitlines() == [
        "x.json:1: key 'a' appears twice",
        "x.json:2: key 'b' appears twice",
    ]


def test_surrogate_pairs_are_whole_characters() -> None:
    assert parse_json('"\\ud83d\\ude00"', "x") == "😀"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


def locations_in(
    value: object, location: tuple[str | int, ...] = ()
) -> list[tuple[str | int, ...]]:
    """Return the location of every value, in order."""
    locations = [location]
    if isinstance(value, dict):
        for key, item in value.items():
            locations += locations_in(item, (*location, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            locations += locations_in(item, (*location, index))
    return locations


@given(JSON)
def test_positions_find_every_value(value: object) -> None:
    text = dumps(value)
    lines_by_location = positions(text)
    assert list(lines_by_location) == locations_in(value)
    lines = text.split("\n")
    for location, line in lines_by_location.items():
        if location and isinstance(location[-1], str):
            assert dumps(location[-1]) in lines[line - 1]


def test_json_out_has_no_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"a": float("nan")})
    path = tmp_path / "x.json"
    path.write_text('{"ä": 1}', encoding="utf-8-sig")
    value, check = load_json(path, limit=100)
    assert value == {"ä": 1}
    check.add(("ä",), "is odd")
    with pytest.raises(FormatError, match=r"x\.json:1: ä: is odd"):
        check.finish()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\0"])
def test_formulas(start: str) -> None:
    assert guard(f"{start}x") == f"'{start}x"
    assert guard(f"'{start}x") == f"''{start}x"
    assert guard("'x") == "'x"


@given(CELLS)
def test_the_guard_is_undone(cell: str) -> None:
    assert unguard(guard(cell)) == cell
    assert not guard(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\0"))


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=3))
def test_csv_survives(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    text = render_rows(rows)
    write_text(path, text)
    assert [row for _, row in read_rows(path, limit=10_000)] == rows
    strict = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert [[unguard(cell) for cell in row] for row in strict] == rows


def test_numbers_are_not_guarded() -> None:
    assert render_rows([["-1", -1.5, None]]) == "'-1,-1.5,\r\n"


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_the_umask_obeyed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    before = os.umask(0o027)
    try:
        write_text(link, "new")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
