"""Hits out of JSON of any shape."""

import json
from math import isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.adapters.answers import AnswerOptions, AnswerReader, json_lines, mentioned_paths
from karat.engines.adapters.command import group_lines
from karat.errors import EngineError
from karat.model import Hit

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["path", "start_line", "end", "score", "hits", "lines", "x"]), inner
        )
    ),
    max_leaves=12,
)


def read(answer: object, **options: Any) -> list[Hit]:
    return AnswerReader(AnswerOptions(**options)).hits(answer)


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ([{"path": "a", "start_line": 2, "end_line": 4, "score": 0.5}], {}),
        ({"hits": [{"file_path": "a", "startLine": 2, "endLine": "4", "score": "0.5"}]}, {}),
        ({"results": [{"file": "a", "line": 2, "end": 4.0, "distance": -0.5}]}, {}),
        (
            {"hits": {"hits": [{"_source": {"path": "a", "span": [2, 3, 4]}, "_score": 0.5}]}},
            {
                "hits": "hits.hits[*]",
                "path": "_source.path",
                "lines": "$._source.span",
                "score": "_score",
            },
        ),
        (
            [{"p": ["x", "a"], "at": "L2-L4", "d": -0.5}],
            {"path": "p[1]", "lines": "at", "distance": "d"},
        ),
        ([{"path": "a", "start": 1, "end": 3, "score": 0.5}], {"first_line": 0}),
        ([{"path": "a", "start": 1, "end": 3, "score": 0.5}], {"first_line": "0"}),
    ],
)
def test_shapes(answer: object, options: dict[str, Any]) -> None:
    assert read(answer, **options) == [Hit("a", 0.5, 2, 4)]


def test_plain_paths_and_missing_parts() -> None:
    first, second, third = read(["a", {"path": "b", "line": 3}, {}])
    assert (first.path, first.start_line, isnan(first.score)) == ("a", 0, True)
    assert (second.start_line, second.end_line) == (3, 3)
    assert third.path == ""


def test_the_highest_score_first() -> None:
    answer = [{"path": "a"}, {"path": "b", "score": 1}, {"path": "c", "score": 2}]
    assert [hit.path for hit in read(answer, order="score")] == ["c", "b", "a"]


@pytest.mark.parametrize("answer", [7, "x", None, {"other": []}, {"hits": 3}])
def test_no_list(answer: object) -> None:
    with pytest.raises(EngineError, match="no list of hits"):
        read(answer)


@given(VALUES)
def test_any_value_is_read_or_refused(answer: object) -> None:
    for options in (
        {},
        {"hits": "$..hits[*]", "lines": "lines"},
        {"hits": "$[*]", "path": "x.path"},
    ):
        reader = AnswerReader(AnswerOptions(**options))
        try:
            hits = reader.hits(answer)
        except EngineError:
            continue
        for hit in hits + reader.one(answer):
            assert isinstance(hit.path, str)
            assert isinstance(hit.score, float)
            assert type(hit.start_line) is type(hit.end_line) is int


@given(st.text())
def test_any_text_may_mention_paths(text: str) -> None:
    assert all(isinstance(hit, Hit) for hit in mentioned_paths(text))


def test_mentions_with_lines() -> None:
    text = "see (src/a.py:10-20), `b.py:3:` and c.py:7:5. Also d.py."
    hits = [
        (hit.path, hit.start_line, hit.end_line) for hit in mentioned_paths(text) if "." in hit.path
    ]
    expected = [("src/a.py", 10, 20), ("b.py", 3, 3), ("c.py", 7, 7), ("d.py", 0, 0)]
    assert hits == expected


@pytest.mark.parametrize(
    "line",
    ["[]", "{}", '{"type": "match"}', '{"type": "match", "data": {"path": {}}}', "7", "null"],
)
def test_what_is_not_ripgreps(line: str) -> None:
    with pytest.raises(EngineError, match="expected the events of rg --json"):
        group_lines(line, "x", join_lines=1)


# What str.splitlines() takes for the end of a line, and JSON does not.
@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line(mark: str) -> None:
    reader = AnswerReader(AnswerOptions())
    rows = [{"path": "a.py", "text": f"log{mark}in"}, {"path": "b.py"}]
    text = "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    assert [hit.path for hit in json_lines(text, reader).hits] == ["a.py", "b.py"]
    data = {"path": {"text": "a.py"}, "line_number": 4, "submatches": [{}]}
    event = {"type": "match", "data": {**data, "lines": {"text": f"login{mark}"}}}
    hits = group_lines(json.dumps(event, ensure_ascii=False), "login", join_lines=1)
    assert hits == [Hit("a.py", 1.5, 4, 4)]


def test_ripgreps_bytes_and_context() -> None:
    line = (
        '{"type": "match", "data": {"path": {"bytes": "YS5weQ=="}, "line_number": 4, '
        '"lines": {"bytes": "bG9naW7/"}, "submatches": [{}, {}]}}'
    )
    output = '{"type": "begin"}\n\n' + line + '\n{"type": "summary"}'
    assert group_lines(output, "login", join_lines=1) == [Hit("a.py", 1 + 2 / 3, 4, 4)]


def test_the_tokens_of_a_line_that_is_a_hit_are_those_of_the_hit() -> None:
    lines = [
        {"path": "a.py", "tokens": 7, "cost": 3},
        {"usage": {"total_tokens": 40}},
        {"path": "b.py", "tokens": 9},
        {"usage": {"total_tokens": 50}, "cost": 0.1},
    ]
    text = "\n".join(map(json.dumps, lines))
    reply = json_lines(text, AnswerReader(AnswerOptions()))
    assert [hit.tokens for hit in reply.hits] == [7, 9]
    assert reply.metadata == {"total_tokens": 50, "cost": 0.1}
    named = json_lines(text, AnswerReader(AnswerOptions(cost="cost", total_tokens="tokens")))
    assert named.metadata == {"tokens": 9, "cost": 0.1}


def test_where_an_option_names_a_place_no_other_counts() -> None:
    reader = AnswerReader(AnswerOptions(cost="$.bill[0].usd", total_tokens="$.count"))
    assert reader.spending({"cost": 1, "tokens": 2, "bill": [{"usd": 3}], "count": 4}) == {
        "tokens": 4,
        "cost": 3,
    }
    assert reader.spending({"cost": 1, "tokens": 2}) == {}
    assert reader.spending(["a.py"]) == {}
