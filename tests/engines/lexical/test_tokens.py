"""Words become terms by rules that hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.lexical.tokens import LONGEST_TERM, TokenRules, raw_words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserName", "getusername get user nam"),
        ("get_user_name", "getusername get user nam"),
        ("HTTPServer", "httpserver http server"),
        ("parseURLs", "parseurls pars url"),
        ("sha256", "sha256 sha 256"),
        ("x_max", "xmax max"),
        ("__init__", "init"),
        ("the of and", ""),
        ("is_it", "isit"),
        ("foo.bar(baz)", "foo bar baz"),
        ("naïve façade", "naiv facad"),
        ("“quoted”—dash", "quot dash"),
        ("検索エンジンv2", "検索 索エ エン ンジ ジン v2"),
        ("한국어 語", "한국 국어 語"),
        ("Привет Straße", "привет stra ss e"),
        ("", ""),
        ("\x00\t\n ++", ""),
        ("a\ud800b", "b"),
        ("____", ""),
    ],
)
def test_worked_examples(text: str, terms: str) -> None:
    assert TokenRules().terms(text) == terms.split()


def test_each_rule_can_be_switched_off() -> None:
    text = "the getUsers"
    assert TokenRules(whole=False).terms(text) == ["get", "user"]
    assert TokenRules(split=False).terms(text) == ["getuser"]
    assert TokenRules(stem=False).terms(text) == ["getusers", "get", "users"]
    assert TokenRules(stop_words=False).terms(text) == ["the", "getusers", "get", "user"]


def test_encoded_data_is_no_term() -> None:
    assert TokenRules().terms("a" * (LONGEST_TERM + 1)) == []
    assert TokenRules().terms("é" * 200) == []
    assert TokenRules().terms("ж" * 200) == []


@given(st.text())
def test_terms_are_small_lower_case_and_without_line_ends(text: str) -> None:
    for term in TokenRules().terms(text):
        assert 0 < len(term) <= 3 * LONGEST_TERM
        assert term == term.casefold()
        assert not set(term) & set("\n\r\0 ")


@given(st.text(), st.text())
def test_a_text_is_its_words(left: str, right: str) -> None:
    rules = TokenRules()
    assert rules.terms(f"{left} {right}") == rules.terms(left) + rules.terms(right)


@given(st.text())
def test_words_hold_all_letters_of_ascii(text: str) -> None:
    joined = b"".join(raw_words(text)).decode("utf-8")
    expected = [c for c in text if c.isascii() and (c.isalnum() or c == "_")]
    assert [c for c in joined if c.isascii()] == expected
