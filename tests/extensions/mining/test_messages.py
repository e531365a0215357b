"""Each rule of the transformer has an example; none of them eats what belongs to the question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.drafts import ASIDES, HEADS, REFERENCES, opening, query_of

EXAMPLES = {
    "tag": ("[1.8.x] Fixed crash in the URL resolver", "fix crash in the URL resolver"),
    "emoji": (":bug: sort routes by weight", "sort routes by weight"),
    "kind": ("fix(router)!: keep the query string", "keep the query string"),
    "solved": ("Fixed #12, #13 -- Made slugs unique.", "make slugs unique"),
    "ticket": ("JIRA-12: handle empty bodies", "handle empty bodies"),
    "misspelled": ("Fiexed #3055 -- Made slugs unique.", "make slugs unique"),
    "version": ("vim-patch:8.0.12: sort routes by weight", "sort routes by weight"),
    "dash": ("-- handle empty bodies", "handle empty bodies"),
    "address": ("Handle empty bodies http://x.org/a?b#c", "handle empty bodies"),
    "remark": ("Handle empty bodies (backport of #12)", "handle empty bodies"),
    "mark": ("Handle empty bodies [ci skip]", "handle empty bodies"),
    "thanks": ("Fixed #39 -- Thanks for the research, Ada!", ""),
    "credit": ("Handle empty bodies. Thanks to A. B. for the patch.", "handle empty bodies"),
    "solves": ("endpoint is optional.  This should fix #86", "endpoint is optional"),
    "ticket-inside": ("Handle empty bodies for #12", "handle empty bodies"),
}


def test_every_rule_has_an_example() -> None:
    names = {*HEADS, *ASIDES, *(f"{name}-inside" if name in HEADS else name for name in REFERENCES)}
    assert names == set(EXAMPLES)


@pytest.mark.parametrize(("message", "query"), EXAMPLES.values(), ids=EXAMPLES)
def test_what_is_cut(message: str, query: str) -> None:
    assert query_of(message) == query


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("gh-101: Fixed the parser", "fix the parser"),
        ("bpo-31: Fixed the parser", "fix the parser"),
        ("CVE-2020-9402 -- Escaped tolerance", "escape tolerance"),
        ("Refs #5 -- Added a hook", "add a hook"),
        ("Fixes #10 by adding a hook", "add a hook"),
        ("#1227 Feature default on mismatch", "Feature default on mismatch"),
        ("🐛 fix the parser", "fix the parser"),
        ("[py3] Fixed #18805 -- ported createsuperuser.", "port createsuperuser"),
        ("Made the session lazy (cherry picked from commit abc)", "make the session lazy"),
        ("Fixed; default charset of empty bodies", "default charset of empty bodies"),
        ("Fixed absolute paths on Windows [reported by Ada]", "fix absolute paths on Windows"),
        ("Fixed 21406 -- Made slugs unique", "make slugs unique"),
        ("Fixed #7 (again) -- Made slugs unique", "make slugs unique"),
        ("Fixed #1336 -- made it work with None (thanks, chrisb)", "make it work with None"),
    ],
)
def test_what_real_histories_write(message: str, query: str) -> None:
    assert query_of(message) == query


@pytest.mark.parametrize(
    "query",
    [
        "kubelet: fix the --max-pods option",
        "add the --template option",
        "read UTF-8 and ISO-8601 in headers",
        "use SHA-256 instead of MD5",
        "don't escape e.g. Greek letters",
        "ENV[rack.tempfiles] holds a list",
        "closing handles should keep the loop alive",
        "deleting objects now works in the admin",
        "Nested blueprints know their parent",
        "rely on input #size instead of #length",
        "Credit card numbers are masked in logs",
        "answer HTTP 404: the page of errors",
    ],
)
def test_what_stays(query: str) -> None:
    assert query_of(query) == query


def test_the_first_sentence_is_the_question() -> None:
    message = "Made SETTINGS_MODULE optional. You can now call configure() yourself."
    assert query_of(message) == "make SETTINGS_MODULE optional"


def test_markup_goes_and_its_text_stays() -> None:
    assert (
        query_of("Add ``url`` to :class:`~flask.Flask` and `g`") == "add url to flask.Flask and g"
    )


def test_a_wrapped_subject_is_joined() -> None:
    first = "Fixed #5890 -- fixed the far edge-case of allowing constant strings inside"
    assert opening(f"{first}\ntemplate markers\n\nBody.") == f"{first} template markers"


@pytest.mark.parametrize("next_line", ["* item", "Signed-off-by: A <a@b>", "Added another thing"])
def test_what_ends_the_paragraph(next_line: str) -> None:
    first = "Sort the routes of the application by their weight and by name"
    assert opening(f"{first}\n{next_line}") == first


def test_a_line_that_ends_early_ends_the_paragraph() -> None:
    assert opening("Short subject\nlonger story") == "Short subject"


def test_the_title_of_a_merge_is_its_body() -> None:
    message = "Merge pull request #7 from a/b\n\nAutomatic merge from queue\n\nSort the routes"
    assert query_of(message) == "sort the routes"


@pytest.mark.parametrize("message", ["", "\n\n", "Fixes #10", "Merge branch 'main'", "\r\n"])
def test_nothing_to_ask(message: str) -> None:
    assert query_of(message) == ""


@given(st.text())
def test_any_message_gives_one_line(message: str) -> None:
    query = query_of(message)
    assert query == " ".join(query.split())


@given(st.from_regex(r"[a-z]{3,8}( [a-z]{3,8}){2,6}", fullmatch=True), st.integers(1, 99999))
def test_a_ticket_never_survives(words: str, number: int) -> None:
    assert f"#{number}" not in query_of(f"Fixed #{number} -- {words} (#{number}). Refs #{number}.")
