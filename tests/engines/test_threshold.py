"""A threshold leaves out the end of an answer, in the engine as well as afterwards."""

from dataclasses import replace
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import from_texts
from karat.engines.registry import check_threshold, count_above, has_absolute_scores
from karat.engines.spec import build, parse_spec
from karat.errors import InputError
from karat.experiments.workers.engine_session import cut
from karat.testing.engines import DOCUMENTS

CORPUS = from_texts({**DOCUMENTS, **{f"more/{n}.py": f"def login_{n}(): ...\n" for n in range(9)}})
QUERIES = ["login password", "how do I log in", "send a message", "zebra"]
ENGINES = [
    "bm25(cache=false)",
    "bm25(cache=false, unit=file)",
    "sparse(cache=false)",
    "dense(model=tests.words:words, cache=false)",
    "dense(model=tests.words:words, cache=false, unit=file)",
    "hybrid(model=tests.words:words, cache=false)",
    "hybrid(model=tests.words:words, cache=false, fusion=rrf, unit=file)",
    "rerank(over=bm25(cache=false), model=tests.engines.rerank.test_engine:overlap, depth=4)",
]


@pytest.mark.parametrize(
    ("scores", "threshold", "of_best", "themselves"),
    [
        ([8.0, 4.0, 1.0], 0.5, 2, 3),
        ([0.4, 0.3, 0.1], 0.35, 2, 1),
        ([1.0, 0.0, -2.0], 0.0, 3, 3),
        ([1.0, 0.5, -2.0], 1e-9, 2, 2),
        ([-1.0, -2.0], 0.1, 0, 0),
        ([nan, nan], 0.1, 0, 0),
        ([], 0.5, 0, 0),
    ],
)
def test_by_hand(scores: list[float], threshold: float, of_best: int, themselves: int) -> None:
    assert count_above(scores, threshold, by_score=False) == of_best
    assert count_above(scores, threshold, by_score=True) == themselves


def test_what_is_no_threshold() -> None:
    assert check_threshold(1.0) == 1.0
    for wrong in (-0.1, 1.1, nan):
        with pytest.raises(InputError, match="not between 0 and 1"):
            check_threshold(wrong)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_begins_every_longer_one(engine: str) -> None:
    asked = build(engine)
    asked.index(CORPUS)
    for query in QUERIES:
        longest = list(asked.search(query, 100))
        for k in (1, 3, 10):
            assert list(asked.search(query, k)) == longest[:k]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_threshold_in_the_engine_is_one_afterwards(engine: str) -> None:
    spec = parse_spec(engine)
    plain = build(spec)
    plain.index(CORPUS)
    by_query = {query: tuple(plain.search(query, 100)) for query in QUERIES}
    limited = build(spec)
    limited.index(CORPUS)

    @given(st.sampled_from(QUERIES), st.floats(0, 1), st.integers(1, 30))
    def holds(query: str, threshold: float, k: int) -> None:
        if spec.name == "rerank":
            limited.threshold = threshold  # type: ignore[attr-defined]
        else:
            recipe = limited.recipe  # type: ignore[attr-defined]
            limited.recipe = replace(recipe, threshold=threshold)  # type: ignore[attr-defined]
        expected = cut(
            by_query[query], k=k, threshold=threshold, by_score=has_absolute_scores(spec)
        )
        assert tuple(limited.search(query, k)) == expected

    holds()


def test_cosines_are_compared_themselves() -> None:
    engine = build("dense(model=tests.words:words, cache=false, code_ranking=false)")
    engine.index(CORPUS)
    scores = [hit.score for hit in engine.search("login password", 100)]
    floor = scores[len(scores) // 2]
    limited = build(
        f"dense(model=tests.words:words, cache=false, code_ranking=false, threshold={floor})"
    )
    limited.index(CORPUS)
    assert [hit.score for hit in limited.search("login password", 100)] == [
        score for score in scores if score >= floor
    ]
