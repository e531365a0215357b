"""The order in which people should judge queries."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.human_sample import draw_next, judging_order, stratified_order
from karat.app.pooling import PooledHit
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, with_model_labels
from karat.scoring.human_sample import with_recorded_sample


@given(st.lists(st.sampled_from("abcd"), max_size=120), st.integers(0, 1_000))
def test_every_prefix_is_proportionally_stratified(strata: list[str], seed: int) -> None:
    order = stratified_order(strata, seed=seed)
    assert sorted(order) == list(range(len(strata)))
    sizes = Counter(strata)
    for length in range(1, len(strata) + 1):
        counts = Counter(strata[row] for row in order[:length])
        for stratum, size in sizes.items():
            assert abs(counts[stratum] - length * size / len(strata)) <= 3


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
            Answer(query, tuple(Hit(path, float(-rank)) for rank, path in enumerate(hits)))
            for query, hits in paths.items()
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
    queries = [with_model_labels(Query(name, name), votes) for name, votes in labels.items()]
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


def test_the_next_queries_follow_those_that_were_drawn() -> None:
    data, runs = labelled()
    order = [data.query_ids[each.row] for each in judging_order(data, runs)]
    hits, drawn = draw_next(data, runs, 2)
    assert drawn == order[:2]
    assert asked(data, hits) == order[:2]
    recorded = with_recorded_sample(data, drawn)
    # Nobody has judged them: they come first, and no further query is drawn.
    assert draw_next(recorded, runs, 1) == ([hit for hit in hits if hit.row == hits[0].row], drawn)
    assert draw_next(recorded, runs, 2) == (hits, drawn)
    more, longer = draw_next(recorded, runs, 3)
    assert (asked(data, more), longer) == (order[:3], order[:3])
    # Judgments do not change the order.
    judged = all_judged(recorded, {order[0]})
    assert [judged.query_ids[each.row] for each in judging_order(judged, runs)] == order
    rest, longer = draw_next(judged, runs, 2)
    assert (asked(data, rest), longer) == (order[1:3], order[:3])
    rest, longer = draw_next(judged, runs, 99)
    assert (asked(data, rest), longer) == (order[1:], order)


def test_queries_are_drawn_whether_judged_or_not() -> None:
    data, runs = labelled()
    order = [data.query_ids[each.row] for each in judging_order(data, runs)]
    judged = all_judged(data, {order[0], order[2]})
    hits, drawn = draw_next(judged, runs, 3)
    assert drawn == order[:3]
    assert asked(data, hits) == [order[1]]


def asked(data: Dataset, hits: list[PooledHit]) -> list[str]:
    """Return the queries of *hits*, in order."""
    return list(dict.fromkeys(data.query_ids[hit.row] for hit in hits))


def all_judged(data: Dataset, ids: set[str]) -> Dataset:
    """Return *data* with all hits of the queries *ids* judged."""
    targets = tuple(Target(path, 1.0) for path in "abc")
    return data.with_queries(
        query._replace(targets=targets) if query.id in ids else query for query in data.queries()
    )
