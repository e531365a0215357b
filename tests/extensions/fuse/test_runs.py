"""Fused runs have the sums that were worked out by hand, and those of ranx."""

from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Answer, Hit, Run
from karat.errors import InputError, UnknownName
from karat.extensions.fuse.runs import fuse, fused
from karat.model import Outcome
from tests.extensions.fuse.ranx import EXPECTED, A, B

DOCUMENTS = st.sampled_from("abcdefgh")
RUNS = st.lists(
    st.dictionaries(DOCUMENTS, st.sampled_from([-2.0, 0.0, 0.5, 3.0, 7.0]), min_size=1),
    min_size=2,
    max_size=3,
).map(lambda rankings: [{"q": ranking} for ranking in rankings])


def scores(run: Run, query: str = "q") -> dict[str, float]:
    hits = run.answer(run.query_ids.index(query)).hits
    return {hit.path: hit.score for hit in hits}


@pytest.mark.parametrize(("settings", "expected"), EXPECTED, ids=lambda one: str(list(one)))
def test_the_sums_are_those_of_ranx(
    settings: dict[str, Any], expected: dict[str, dict[str, float]]
) -> None:
    run = fuse([A, B], **settings)
    for query, sums in expected.items():
        assert scores(run, query) == pytest.approx(sums)


def test_reciprocal_ranks_by_hand() -> None:
    run = fuse([{"q": {"a": 9.0, "b": 2.0}}, {"q": {"b": 0.1}}], rrf_k=1, weights=[1, 3])
    # a is first of one run: 1/2. b is second there and first of the other: 1/3 + 3/2.
    assert scores(run) == pytest.approx({"b": 1 / 3 + 3 / 2, "a": 1 / 2})


def test_a_missing_hit_has_the_lowest_z_score() -> None:
    # The first run has mean 2 and deviation 1; the second mean 5 and deviation 0.
    run = fuse([{"q": {"a": 3.0, "b": 1.0}}, {"q": {"c": 5.0}}], method="z-score")
    assert scores(run) == {"a": 1.0, "b": -1.0, "c": -1.0}


def test_equal_scores_are_all_the_best() -> None:
    run = fuse([{"q": {"a": 3.0, "b": 3.0}}, {"q": {"b": 5.0}}], method="min-max")
    assert scores(run) == {"b": 2.0, "a": 1.0}


def test_equal_sums_keep_the_order_of_the_runs() -> None:
    run = fuse([{"q": {"z": 2.0, "a": 1.0}}, {"q": {"a": 2.0, "z": 1.0}}])
    assert list(scores(run)) == ["z", "a"]


def test_chunks_of_a_file_are_different_hits() -> None:
    first = Run.of([Answer("q", (Hit("a.py", 2.0, 1, 9), Hit("a.py", 1.0, 10, 19)))])
    second = Run.of([Answer("q", (Hit("a.py", 0.5, 10, 19),))])
    fusion = fused([first, second], rrf_k=0)
    assert [(hit.start_line, hit.score) for hit in fusion.run.answer(0).hits] == [
        (10, 1.5),
        (1, 1.0),
    ]
    assert fusion.shared == 1


def test_a_query_is_fused_from_the_runs_that_answer_it() -> None:
    failed = Answer("q3", outcome=Outcome.ERROR, extra={"error": "broke"})
    first = Run.of([Answer("q1", (Hit("a", 1.0),)), Answer("q2", (Hit("b", 1.0),)), failed])
    second = Run.of([Answer("q1", (Hit("c", 1.0),)), Answer("q2", outcome=Outcome.TIMEOUT)])
    fusion = fused([first, second])
    assert (fusion.partial, fusion.shared) == (("q2", "q3"), 0)
    assert scores(fusion.run, "q2") == {"b": pytest.approx(1 / 61)}
    assert fusion.run.answer(2).outcome is Outcome.ERROR


def test_hits_without_scores_have_ranks_only() -> None:
    first = Run.of([Answer("q", (Hit("b", nan), Hit("a", nan)))], name="mine")
    assert list(scores(fuse([first, {"q": {"b": 1.0}}]))) == ["b", "a"]
    with pytest.raises(InputError, match=r"query 'q' has hits without scores; use --method rrf"):
        fuse([first, {"q": {"b": 1.0}}], method="min-max")


@given(runs=RUNS, factor=st.sampled_from([0.5, 2.0, 1000.0]), shift=st.sampled_from([0.0, 8.0]))
def test_scale_and_origin_of_a_run_change_nothing(
    runs: list[dict[str, dict[str, float]]], factor: float, shift: float
) -> None:
    moved = [
        {"q": {document: score * factor + shift for document, score in run["q"].items()}}
        for run in runs
    ]
    for method in ("rrf", "min-max", "z-score"):
        one, other = (scores(fuse(each, method=method)) for each in (runs, moved))
        assert one == pytest.approx(other, abs=1e-9)


@given(runs=RUNS)
def test_every_hit_is_there_once_and_the_best_come_first(
    runs: list[dict[str, dict[str, float]]],
) -> None:
    for method in ("rrf", "min-max", "z-score"):
        found = scores(fuse(runs, method=method))
        assert found.keys() == {document for run in runs for document in run["q"]}
        assert list(found.values()) == sorted(found.values(), reverse=True)
        assert list(scores(fuse(runs, method=method, k=2)).items()) == list(found.items())[:2]


@pytest.mark.parametrize(
    ("runs", "settings", "problem"),
    [
        ([A], {}, "two runs or more"),
        ([A, B], {"weights": [1.0]}, "2 runs and 1 weights"),
        ([A, B], {"weights": [0.0, 0.0]}, "or all are 0"),
        ([A, B], {"weights": [inf, 1.0]}, "not finite"),
        ([A, B], {"weights": [-1.0, 1.0]}, "negative"),
        ([A, B], {"rrf_k": -1.0}, "rrf_k is -1"),
    ],
)
def test_bad_settings_are_named(runs: Any, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        fuse(runs, **settings)


def test_an_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: rrf, min-max, z-score"):
        fuse([A, B], method="borda")


def test_python_has_it_by_name() -> None:
    assert karat.fuse([A, B]).name == "fused"
