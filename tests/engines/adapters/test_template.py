"""Places for the query in a text, and secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.adapters.answers import Secrets, words
from karat.engines.placeholders import check_template, fill, fill_value
from karat.errors import InputError


@given(st.text(), st.text())
def test_a_value_is_never_read_as_a_template(query: str, root: str) -> None:
    filled = fill("<{query}|{root}>", {"query": query, "root": root})
    assert filled == f"<{query}|{root}>"


def test_braces_that_are_no_names_stay() -> None:
    text = 'a{3} {"x": {"y": 1}} {} { query } {{query}}'
    check_template(text, ("query",))
    assert fill(text, {}) == 'a{3} {"x": {"y": 1}} {} { query } {query}'


def test_values_of_any_shape() -> None:
    template = {"q": ["{query}!", 3, None], "k": "{k}", "text": "top {k}"}
    filled = fill_value(template, {"query": "x", "k": "7"}.__getitem__, k=7)
    assert filled == {"q": ["x!", 3, None], "k": 7, "text": "top 7"}


def test_an_unknown_name_within() -> None:
    with pytest.raises(ValueError, match=r"\{qery\} is unknown; did you mean \{query\}"):
        check_template({"a": [{"b": "{qery}"}]}, ("query", "k"))
    with pytest.raises(ValueError, match=r"expected \{query\}, \{env:NAME\}"):
        check_template("{zzz}", ("query",), env=True)


def test_words() -> None:
    assert words("a I") == ["a", "i"]
    assert words("?!") == []
    assert words("snake_case Größe größe") == ["snake_case", "größe"]


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=4))
def test_a_secret_is_scrubbed_however_it_is_written(value: str) -> None:
    from urllib.parse import quote

    secrets = Secrets({"KEY": value})
    assert secrets.expand("Bearer {env:KEY}") == f"Bearer {value}"
    scrubbed = secrets.scrub(f"1 {value} 2 {quote(value, safe='')} 3")
    assert scrubbed.count("{env:KEY}") >= 2 or value in "{env:KEY}"


@pytest.mark.parametrize("part", range(4, 16))
def test_a_part_of_a_secret_at_a_cut_is_scrubbed(part: int) -> None:
    value = "secret-value-4711"
    secrets = Secrets({"KEY": value})
    secrets.expand("{env:KEY}")
    assert secrets.scrub(f"printed 'x {value[:part]}...'") == "printed 'x {env:KEY}...'"
    assert secrets.scrub(f"{value[-part:]} is wrong") == "{env:KEY} is wrong"
    assert secrets.scrub(f"...{value[-part:]} is wrong") == "...{env:KEY} is wrong"


def test_a_missing_variable() -> None:
    with pytest.raises(InputError, match="variable KEY is not set"):
        Secrets({"KEY": ""}).expand("{env:KEY}")
