"""The order in which people should judge queries."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.judging_order import judging_order, next_hits, stratified_order
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, with_model_labels


@given(st.lists(st.sampled_from("abcd"), max_size=120), st.integers(0, 1_000))
def test_every_prefix_is_proportionally_stratified(strata: list[str], seed: int) -> None:
    order = stratified_order(strata, seed=seed)
    assert sorted(order) == list(range(len(strata)))
    sizes = Counter(strata)
    for length in range(1, len(strata) + 1):
        found = Counter(strata[row] for row in order[:length])
        for stratum, size in sizes.items():
            assert abs(found[stratum] - length * size / len(strata)) <= 3


@pytest.mark.parametrize("length", [3, 5, 8])
def test_every_query_is_in_a_prefix_with_the_same_probability(length: int) -> None:
    strata = ["a"] * 9 + ["b"] * 3 + ["c"]
    draws = 6_000
    counts = Counter(
        row for seed in range(draws) for row in stratified_order(strata, seed=seed)[:length]
    )
    expected = length / len(strata)
    for row in range(len(strata)):
        assert counts[row] / draws == pytest.approx(expected, abs=0.03)


def label(path: str, grade: float, judge: str = "m1") -> JudgmentRecord:
    return JudgmentRecord(Target(path, grade), judge, "2026-01-01T12:00:00Z")


def run(name: str, paths: dict[str, list[str]]) -> Run:
    return Run.of(
        [
            Answer(query, tuple(Hit(path, float(-rank)) for rank, path in enumerate(found)))
            for query, found in paths.items()
        ],
        name=name,
    )


def labelled() -> tuple[Dataset, dict[str, Run]]:
    """Return queries on which the runs differ much, little, or not, and one in dispute."""
    labels = {
        "much": [label("a", 1), label("b", 0)],
        "little": [label("a", 1), label("b", 1), label("c", 0)],
        "alike": [label("a", 1)],
        "disputed": [label("a", 1), label("a", 0, "m2")],
    }
    queries = [with_model_labels(Query(name, name), found) for name, found in labels.items()]
    first = {"much": ["a"], "little": ["a", "b"], "alike": ["a"], "disputed": ["a"]}
    second = {"much": ["b"], "little": ["a", "c", "b"], "alike": ["a"], "disputed": ["a"]}
    data = Dataset.of(queries, name="gold", match="exact")
    return data, {"one": run("one", first), "two": run("two", second)}


def test_strata_are_made_from_the_labels_of_models() -> None:
    data, runs = labelled()
    order = judging_order(data, runs)
    assert {data.query_ids[each.row]: each.stratum for each in order} == {
        "much": "runs differ much",
        "little": "runs differ little",
        "alike": "runs score alike",
        "disputed": "runs score alike, models disagree",
    }


def test_without_labels_the_order_is_random() -> None:
    data, runs = labelled()
    plain = data.with_queries(with_model_labels(query, ()) for query in data.queries())
    assert {each.stratum for each in judging_order(plain, runs)} == {"unlabelled"}
    orders = {tuple(each.row for each in judging_order(plain, runs, seed=n)) for n in range(9)}
    assert len(orders) > 1
    assert judging_order(plain, runs, seed=3) == judging_order(plain, runs, seed=3)


def test_the_next_queries_follow_those_that_people_judged() -> None:
    data, runs = labelled()
    order = [each.row for each in judging_order(data, runs)]
    (first, *_), (second, *_) = (
        list(dict.fromkeys(hit.row for hit in next_hits(data, runs, count))) for count in (1, 2)
    )
    assert first == second == order[0]
    targets = tuple(Target(path, 1.0) for path in "abc")
    judged = data.with_queries(
        query._replace(targets=targets) if row == first else query
        for row, query in enumerate(data.queries())
    )
    assert [each.row for each in judging_order(judged, runs)] == order
    assert {hit.row for hit in next_hits(judged, runs, 1)} == {order[1]}
    assert {hit.row for hit in next_hits(judged, runs, 99)} == set(order[1:])
