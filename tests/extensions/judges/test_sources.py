"""Code is shown with its numbers, and never as a terminal would obey it."""

from karat.extensions.judges.sources import code_lines

LINES = [f"line {number}\n" for number in range(1, 101)]


def test_the_lines_of_a_place_with_some_around_them() -> None:
    assert code_lines(LINES, 50, 51) == [
        *(f" {number}   line {number}" for number in (47, 48, 49)),
        *(f" {number} > line {number}" for number in (50, 51)),
        *(f" {number}   line {number}" for number in (52, 53, 54)),
    ]


def test_ends_of_a_file() -> None:
    assert code_lines(LINES[:2], 1, 9) == ["  1 > line 1", "  2 > line 2"]
    assert code_lines([], 3, 4) == []
    assert code_lines(LINES[:2], 7, 9) == []


def test_of_many_lines_the_rest_is_counted() -> None:
    whole = code_lines(LINES, 0, 0)
    assert (len(whole), whole[0], whole[-1]) == (61, "  1   line 1", "      ... 40 more lines")
    assert code_lines(LINES, 10, 90)[-1] == "      ... 27 more lines"


def test_nothing_is_obeyed() -> None:
    assert code_lines(["\ta\x1b[31m\r\n"], 1, 1) == ["  1 >     a\\x1b[31m\\r"]
