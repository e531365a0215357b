import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.words import content_words, is_identifier, parts, tokens


@pytest.mark.parametrize(
    "name",
    [
        "url_for",
        "__init__",
        "MAX_SIZE",
        "getUser",
        "URLField",
        "app.run()",
        "run()",
        "django.utils.text",
        "setup.py",
        "--debug",
        "@property",
        "Router::new",
        "req->path",
        "size=None",
        "load_dotenv's",
        "(getUser)",
        "Rack::Response#headers",
        "src/auth/login.py",
    ],
)
def test_names_out_of_code(name: str) -> None:
    assert is_identifier(name)


@pytest.mark.parametrize(
    "word",
    [
        "crash",
        "URLs",
        "HTTP",
        "MySQL",
        "JavaScript",
        "and/or",
        "e.g.",
        "3.7",
        "v1.2",
        "IPv6",
        "Node.js",
    ],
)
def test_words_that_are_no_names(word: str) -> None:
    assert not is_identifier(word)


def test_tokens_lose_the_punctuation_around_them() -> None:
    assert tokens("(see 'url_for', twice)!") == ["see", "url_for", "twice"]


def test_a_name_is_taken_apart() -> None:
    assert parts("parseHTTPHeaders_v2") == ["parse", "http", "headers", "v", "2"]


def test_verbs_of_every_commit_carry_nothing() -> None:
    assert content_words("fix an issue with the code") == set()


@given(st.text())
def test_any_text_has_words_in_lower_case(text: str) -> None:
    assert all(word == word.lower() for word in content_words(text))
