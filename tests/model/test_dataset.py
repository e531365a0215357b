"""A dataset keeps every row that it is given, as columns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Dataset, Query, Target
from karat.model.frozen import encode

TARGETS = st.builds(
    Target,
    path=st.text(max_size=5),
    grade=st.floats(-3, 3),
    start_line=st.integers(0, 1000),
    end_line=st.integers(0, 1000),
    symbol=st.text(max_size=3),
    ref=st.sampled_from(["path", "uri"]),
)
QUERIES = st.lists(
    st.builds(
        Query,
        id=st.text(max_size=4),
        text=st.text(max_size=9),
        targets=st.lists(TARGETS, max_size=4).map(tuple),
        tags=st.dictionaries(st.sampled_from("abc"), st.text(min_size=1, max_size=3)),
        extra=st.dictionaries(st.text(max_size=3), st.integers()),
    ),
    max_size=6,
    unique_by=lambda query: query.id,
)


@settings(max_examples=50)
@given(QUERIES)
def test_rows_come_back_as_they_went_in(queries: list[Query]) -> None:
    dataset = Dataset.of(queries, name="d", match="lines", metadata={"seed": 7})
    assert list(dataset.queries()) == queries
    assert len(dataset) == len(queries)
    assert (dataset.name, dataset.match, dataset.metadata) == ("d", "lines", {"seed": 7})
    for row, query in enumerate(queries):
        assert dataset.targets(row) == list(query.targets)


def test_a_query_without_a_tag_has_an_empty_one_in_its_column() -> None:
    dataset = Dataset.of([Query("q1", "", tags={"level": "hard"}), Query("q2", "")])
    assert dataset.tags == {"level": ("hard", "")}
    assert [dict(query.tags) for query in dataset.queries()] == [{"level": "hard"}, {}]


def test_of_two_targets_on_one_path_the_higher_grade_counts() -> None:
    targets = (Target("a", 1), Target("b", -1), Target("a", 3), Target("a", 2), Target("b", -2))
    assert Dataset.of([Query("q", "", targets)]).judgments(0) == {"a": 3.0, "b": -1.0}


def test_two_queries_of_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="gold: query id 'q1' appears more than once"):
        Dataset.of([Query("q1", "a"), Query("q2", "b"), Query("q1", "c")], name="gold")


@settings(max_examples=50)
@given(st.lists(st.text(max_size=3)))
def test_codes_decode_to_the_same_strings(values: list[str]) -> None:
    coded = encode(values)
    assert [coded[row] for row in range(len(values))] == values
    assert sorted(coded.names) == sorted(set(values))


def test_other_queries_take_over_name_mode_and_metadata() -> None:
    queries = [Query("q1", "log in", (Target("a.py"),)), Query("q2", "log out", tags={"a": "b"})]
    gold = Dataset.of(queries, name="auth", match="lines", metadata={"made_by": "hand"})
    part = gold.with_queries(queries[1:])
    assert list(part.queries()) == queries[1:]
    assert (part.name, part.match, part.metadata) == ("auth", "lines", {"made_by": "hand"})
    assert part.metadata is not gold.metadata
    assert gold.with_queries(gold.queries()) == gold
