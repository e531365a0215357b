"""A run keeps every hit as it was returned, as columns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Answer, Hit, Outcome, Run

HITS = st.builds(
    Hit,
    path=st.text(max_size=5),
    score=st.floats(allow_nan=False),
    start_line=st.integers(-1, 1000),
    end_line=st.integers(-1, 1000),
    symbol=st.text(max_size=3),
    tokens=st.integers(-1, 1000),
)
ANSWERS = st.lists(
    st.builds(
        Answer,
        query_id=st.text(max_size=4),
        hits=st.lists(HITS, max_size=4).map(tuple),
        outcome=st.sampled_from(Outcome),
        latency_ns=st.integers(-1, 2**62),
        extra=st.dictionaries(st.text(max_size=3), st.integers()),
    ),
    max_size=6,
    unique_by=lambda answer: answer.query_id,
)


@settings(max_examples=50)
@given(ANSWERS)
def test_rows_come_back_as_they_went_in(answers: list[Answer]) -> None:
    run = Run.of(answers, name="r", metadata={"engine": "bm25"})
    assert list(run.answers()) == answers
    assert len(run) == len(answers)
    assert (run.name, run.metadata) == ("r", {"engine": "bm25"})


def test_two_answers_to_one_query_are_refused() -> None:
    with pytest.raises(InputError, match="bm25: query 'q1' is answered more than once"):
        Run.of([Answer("q1"), Answer("q2"), Answer("q1")], name="bm25")
