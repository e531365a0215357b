"""The judging pool of the service: updated grade by grade, it equals a pool made from scratch."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.app.pooling import best_rank, candidates
from karat.extensions.service.judging_pool import JudgingPool, edited, grade_at
from karat.extensions.service.store import StoredJudgment
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.scoring.labels import is_judged
from karat.scoring.matching.modes import MATCHERS

PATHS = ("a.py", "b.py", "c.py")
NOW = datetime(2026, 1, 2, tzinfo=UTC)

Chunk = tuple[str, tuple[int, int]]
Answered = Sequence[list[Chunk]]
Made = list[tuple[str, Chunk, float | None]]

chunks = st.tuples(st.sampled_from(PATHS), st.sampled_from([(1, 9), (5, 14), (10, 19), (0, 0)]))
answers = st.lists(chunks, unique=True, max_size=5)
grades = st.none() | st.sampled_from([0.0, 1.0, 3.0])
edits = st.lists(st.tuples(st.sampled_from(["q0", "q1", "gone"]), chunks, grades), max_size=8)


def gold(match: str) -> Dataset:
    return Dataset.of(
        [Query("q0", "x", (Target("a.py", 2.0, 1, 9),)), Query("q1", "y", (Target("b.py", 0.0),))],
        match=match,
    )


def run(name: str, answers: Answered) -> Run:
    return Run.of(
        [
            Answer(
                f"q{row}",
                tuple(Hit(path, 9.0 - rank, *lines) for rank, (path, lines) in enumerate(hits, 1)),
            )
            for row, hits in enumerate(answers)
        ],
        name=name,
    )


def judgments(made: Made) -> list[StoredJudgment]:
    return [
        StoredJudgment(number, query, path, *lines, grade, None, "", "ada", None, NOW)
        for number, (query, (path, lines), grade) in enumerate(made, 2)
    ]


@given(
    st.sampled_from(["exact", "lines"]),
    st.tuples(answers, answers),
    st.tuples(answers, answers),
    edits,
    st.integers(1, 4),
)
@example(
    "lines",
    ([], []),
    ([], [("a.py", (1, 9)), ("a.py", (5, 14))]),
    [("q1", ("b.py", (1, 9)), None)],
    1,
)
def test_it_equals_a_pool_from_scratch(
    match: str, one: Answered, other: Answered, made: Made, step: int
) -> None:
    runs = {"one": run("one", one), "other": run("other", other)}
    history = judgments(made)
    pool = JudgingPool(gold(match), runs, depth=3)
    for start in range(0, len(history), step):
        pool.add(history[start : start + step])
    # The uploaded dataset decides the units, its edited targets which of them are judged.
    now, matcher = edited(gold(match), history), MATCHERS.get(match)()
    expected = sorted(
        (
            item
            for row, items in candidates(gold(match), runs, depth=3).items()
            for item in items
            if not is_judged(item.hit, now.targets(row), matcher)
        ),
        key=lambda item: (best_rank(item), item.row),
    )
    assert pool.page(limit=100) == expected
    assert len(pool) == len(expected)
    assert pool.version == (history[-1].version if history else 1)
    assert pool.page(limit=2, offset=1) == expected[1:3]


def test_a_grade_is_looked_up_in_its_own_query_only(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = [[("c.py", (1, 9))], [("c.py", (1, 9))]]
    pool = JudgingPool(gold("lines"), {"one": run("one", hits)}, depth=3)
    assert len(pool) == 2
    looked: list[int] = []
    monkeypatch.setattr(JudgingPool, "_update", lambda _, row: looked.append(row))
    (made,) = judgments([("q1", ("c.py", (1, 9)), 1.0)])
    pool.add([made, replace(made, version=3, grade=2.0)])
    assert looked == [1]


def test_a_file_stays_one_unit_when_the_last_target_is_removed() -> None:
    hits = [[], [("a.py", (1, 9)), ("a.py", (5, 14))]]
    pool = JudgingPool(gold("lines"), {"one": run("one", hits)}, depth=3)
    removed, graded = judgments([("q1", ("b.py", (1, 9)), None), ("q1", ("a.py", (5, 14)), 2.0)])
    pool.add([removed])
    assert [item.hit.path for item in pool.page(limit=9)] == ["a.py"]
    # A grade of any chunk is one of the file, so the other chunk must not be offered again.
    pool.add([graded])
    assert pool.page(limit=9) == []
    grade = grade_at(gold("lines"), "q1", "a.py", start_line=1, end_line=9, judgments=[graded])
    assert grade == 2.0


def test_a_sample_of_hits_takes_whole_queries() -> None:
    cases = [Query(f"q{row}", "x") for row in range(12)]
    hits = [[(f"{row}.py", (1, 9)), (f"{row}.py", (10, 19))] for row in range(12)]
    data = Dataset.of(cases, match="lines")
    order = [7, 3, 11, 0, 5, 1, 9, 2, 10, 4, 8, 6]
    pool = JudgingPool(data, {"one": run("one", hits)}, depth=3, sample=order)
    sampled = pool.page(limit=99, order="sample")

    assert [item.row for item in sampled] == [row for row in order for _ in "12"]
    assert [best_rank(item) for item in sampled] == [1, 2] * 12
    assert pool.page(limit=5, offset=2, order="sample") == sampled[2:7]
    ranked = pool.page(limit=99)
    assert sorted(ranked, key=best_rank) == ranked
    first = sampled[0]
    pool.add(judgments([(f"q{first.row}", (first.hit.path, (1, 9)), 2.0)]))
    assert pool.page(limit=99, order="sample") == sampled[1:]
