"""Text as a terminal shows it."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.display import display_width, headline_and_details, printable, shorten


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain", "plain"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eright to left\u2066", "\\u202eright to left\\u2066"),
        ("\ud800 alone", "\\ud800 alone"),
        ("no\u00a0break\u3000wide", "no\u00a0break\u3000wide"),
        ("検索 🚀 e\u0301", "検索 🚀 e\u0301"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, escaped: str) -> None:
    assert printable(text) == escaped


@given(st.text(alphabet=st.characters()))
def test_any_text_becomes_one_harmless_line(text: str) -> None:
    line = printable(text)
    assert len(line.splitlines()) <= 1
    assert not any(category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in line)
    assert printable(line) == line


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("検索", 4), ("\uff41\uff42", 4), ("🚀", 2), ("e\u0301", 1), ("ｶﾅ", 2)],
)
def test_width_is_counted_in_columns(text: str, width: int) -> None:
    assert display_width(text) == width


@given(st.text(), st.integers(4, 40))
def test_a_shortened_text_fits_and_begins_as_the_text_does(text: str, width: int) -> None:
    short = shorten(text, width)
    assert display_width(short) <= width
    if short != text:
        assert short.endswith("...")
        assert text.startswith(short.removesuffix("..."))
    else:
        assert display_width(text) <= width


@pytest.mark.parametrize(
    ("verdict", "headline", "details"),
    [
        ("", "", ""),
        ("a beats b.", "a beats b.", ""),
        ("On ndcg@10, a has 0.5. No other does.", "On ndcg@10, a has 0.5.", "No other does."),
        ("a beats b; c. No other does.", "a beats b; c.", "No other does."),
    ],
)
def test_the_first_sentence_of_a_verdict_is_its_headline(
    verdict: str, headline: str, details: str
) -> None:
    assert headline_and_details(verdict) == (headline, details)
