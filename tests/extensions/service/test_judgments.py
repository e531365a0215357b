from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.service.judging_pool import edited, grade_at, without_unresolved
from karat.extensions.service.store import StoredJudgment
from karat.model import Dataset, Query, Target

NOW = datetime(2025, 1, 2, tzinfo=UTC)
FILES = Dataset.of(
    [
        Query("q1", "log in", (Target("auth.py", 2.0), Target("user.py"))),
        Query("q2", "mail", (Target("file:///srv/mail.py", ref="uri"),), {"area": "mail"}),
    ],
    name="gold",
    match="exact",
    metadata={"repository": "r"},
)
LINES = Dataset.of([Query("q1", "log in", (Target("auth.py", 2.0, 3, 9),))], match="lines")


def judgment(
    path: str, grade: float | None, *, query: str = "q1", lines: tuple[int, int] = (0, 0)
) -> StoredJudgment:
    return StoredJudgment(2, query, path, *lines, grade, None, "", "ann", None, NOW)


def test_nothing_was_judged() -> None:
    assert edited(FILES, []) is FILES


def test_a_grade_is_changed_added_and_taken_away() -> None:
    made = [
        judgment("./auth.py", 0.0),
        judgment("main.py", 3.0, lines=(5, 9)),
        judgment("user.py", None),
    ]
    gold = edited(FILES, made)
    assert gold.targets(0) == [Target("auth.py", 0.0), Target("main.py", 3.0)]
    assert list(gold.queries())[1] == list(FILES.queries())[1]
    assert (gold.name, gold.match, gold.metadata) == ("gold", "exact", {"repository": "r"})
    assert grade_at(gold, "q1", "main.py", start_line=5, end_line=9) == 3.0
    assert grade_at(gold, "q1", "user.py") is None


def test_where_lines_are_judged_they_tell_places_apart() -> None:
    made = [judgment("auth.py", 1.0, lines=(20, 30)), judgment("auth.py", 3.0, lines=(3, 9))]
    targets = edited(LINES, made).targets(0)
    assert sorted(targets) == [Target("auth.py", 1.0, 20, 30), Target("auth.py", 3.0, 3, 9)]
    assert grade_at(LINES, "q1", "auth.py", start_line=3, end_line=9) == 2.0
    assert grade_at(LINES, "q1", "auth.py", start_line=3, end_line=8) is None


def test_a_query_that_is_not_asked_is_left_out() -> None:
    gold = edited(FILES, [judgment("auth.py", 1.0, query="q9")])
    assert list(gold.queries()) == list(FILES.queries())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3))))
def test_the_last_word_counts(edits: list[tuple[str, int | None]]) -> None:
    gold = edited(FILES, [judgment(path, grade) for path, grade in edits])
    for path, grade in dict(edits).items():
        assert grade_at(gold, "q1", path) == grade


@pytest.mark.parametrize(("query", "left"), [("q2", 0), ("q1", 1)])
def test_what_means_no_document_is_left_out(query: str, left: int) -> None:
    lost = {"query_id": query, "doc_ref": {"uri": "file:///srv/mail.py"}}
    assert len(without_unresolved(FILES, [lost]).targets(1)) == left


def test_a_chunk_of_a_query_of_files_is_judged_as_its_file() -> None:
    files = Query("files", "", (Target("a.py"),))
    lined = Query("lines", "", (Target("a.py", 1.0, 1, 9),))
    gold = Dataset.of([files, lined], match="lines")
    judged = edited(
        gold, [judgment("b.py", 1.0, query=query, lines=(3, 5)) for query in ("files", "lines")]
    )
    assert judged.targets(0)[1] == Target("b.py")
    assert judged.targets(1)[1] == Target("b.py", 1.0, 3, 5)
