import pytest

from karat.errors import InputError
from karat.model.spec import parse_call


def test_options_may_hold_calls_and_commas() -> None:
    text = " dense( chunker=window(unit=tokens, size=9), model=st:a/b, url=http://h/?a,b) "
    assert parse_call(text) == (
        "dense",
        {"chunker": "window(unit=tokens, size=9)", "model": "st:a/b", "url": "http://h/?a,b"},
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("lines(size=4", r"'\)' is missing"),
        ("lines size=4)", r"'\(' is missing"),
        ("lines(4)", "'4' is not an option; expected name=value"),
        ("lines(size=4, size=5)", "option 'size' is given twice"),
    ],
)
def test_what_is_no_call(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_call(text)
