"""Numbers as cells."""

from math import inf, nan

import pytest

from karat.report.table import Cell, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.66966, "0.6697"),
        (1.0, "1.0000"),
        (99.99996, "100.0000"),
        (812.54, "812.5"),
        (-0.00001, "0.0000"),
        (-0.5, "-0.5000"),
    ],
)
def test_digits(value: float, text: str) -> None:
    assert number(value) == Cell(text, value)


@pytest.mark.parametrize("value", [None, nan, inf, -inf])
def test_what_is_no_number_is_a_dash(value: float | None) -> None:
    assert number(value) == Cell("-", None)


def test_a_sign_is_shown_where_there_is_a_change() -> None:
    changes = (0.25, -0.25, 0.0, -0.0, 0.0004)
    assert [number(change, signed=True, digits=3).text for change in changes] == [
        *("+0.250", "-0.250", "0.000", "0.000", "0.000"),
    ]
