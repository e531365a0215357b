"""From a judged run to a table of scores, and from a table to averages."""

from math import exp, isnan, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model import JudgedQuery, JudgedRun, QueryStatus, Sizes
from karat.scoring.matching import judge
from karat.scoring.metrics import average, evaluate, parse_all

TRUTH = {"found": {"a": 1}, "missing": {"a": 1}, "unjudged": {"a": 0}, "silent": {}}
RUN = {"found": {"b": 2.0, "a": 1.0}, "unjudged": {"a": 1.0}}


@pytest.mark.parametrize(
    ("score_unjudged", "score_empty", "expected"),
    [
        (False, True, [0.5, 0.0, nan, nan]),
        (True, True, [0.5, 0.0, 0.0, 0.0]),
        (True, False, [0.5, nan, 0.0, nan]),
        (False, False, [0.5, nan, nan, nan]),
    ],
)
def test_what_is_scored(score_unjudged: bool, score_empty: bool, expected: list[float]) -> None:
    table = evaluate(
        judge(TRUTH, RUN),
        parse_all(["mrr", "hit@1"]),
        score_unjudged=score_unjudged,
        score_empty=score_empty,
    )
    assert list(table.columns["mrr"]) == pytest.approx(expected, nan_ok=True)
    assert [isnan(score) for score in table.columns["hit@1"]] == [*map(isnan, expected)]


def test_a_table_keeps_names_queries_and_statuses() -> None:
    judged = judge(TRUTH, RUN, name="bm25")
    table = evaluate(judged, parse_all(["P@1", "ndcg(gain=exp)@5"]))
    assert (table.name, table.query_ids, table.statuses) == (
        "bm25",
        tuple(TRUTH),
        (QueryStatus.SCORED, QueryStatus.MISSING, QueryStatus.UNJUDGED, QueryStatus.UNJUDGED),
    )
    assert list(table.columns) == ["precision@1", "ndcg(gain=exp)@5"]


def test_a_table_where_every_query_is_scored() -> None:
    query = JudgedQuery([2], [1], ideal=[1], retrieved=5)
    judged = JudgedRun("r", ("q", "r"), (query, query), (QueryStatus.SCORED,) * 2, "trec10")
    assert list(evaluate(judged, parse_all(["mrr"])).columns["mrr"]) == [0.5, 0.5]
    assert list(evaluate(judged, []).columns) == []


def test_averages_by_hand() -> None:
    assert average([1.0, nan, 0.0]) == 0.5
    assert average([1.0, 0.0]) == 0.5
    assert average([3.0, nan, 4.0], "sum") == 7.0
    assert average([0.25, nan, 1.0], "geometric") == pytest.approx(0.5)
    # A query that earns nothing counts a hundred-thousandth, as in trec_eval.
    assert average([0.0, 1.0], "geometric") == pytest.approx(exp(log(0.00001) / 2))


@pytest.mark.parametrize("kind", ["arithmetic", "geometric", "sum"])
@pytest.mark.parametrize("values", [[], [nan], [nan, nan]])
def test_nothing_has_no_average(kind: str, values: list[float]) -> None:
    assert isnan(average(values, kind))  # type: ignore[arg-type]


@given(st.lists(st.floats(0, 1) | st.just(nan), min_size=1))
def test_an_average_is_between_the_least_and_the_most(values: list[float]) -> None:
    scored = [value for value in values if not isnan(value)]
    for kind in ("arithmetic", "geometric"):
        mean = average(values, kind)
        if scored:
            low, high = min(scored), max(*scored, 0.00001)
            assert low - 1e-12 <= mean <= high + 1e-12
        else:
            assert isnan(mean)


def test_an_infinite_score_makes_an_infinite_average() -> None:
    assert average([float("inf"), 1.0]) == float("inf")
    assert average([float("inf"), nan]) == float("inf")


def test_a_query_without_an_answer_is_not_thrifty() -> None:
    sizes = Sizes([40], [40], [0], [100], 10)
    answered = JudgedQuery([], [], ideal=[1], retrieved=1, sizes=sizes)
    silent = JudgedQuery([], [], ideal=[1], retrieved=0, sizes=Sizes([], [], [], [], 10))
    judged = JudgedRun(
        "run",
        ("a", "b", "c"),
        (answered, silent, silent),
        (QueryStatus.SCORED, QueryStatus.SCORED, QueryStatus.ERROR),
        "trec10",
    )
    columns = evaluate(judged, parse_all(["lines@10", "tokens@10", "line-iou@10"])).columns
    assert columns["lines@10"].tolist() == pytest.approx([40.0, 0.0, nan], nan_ok=True)
    assert columns["tokens@10"].tolist() == pytest.approx([100.0, 0.0, nan], nan_ok=True)
    assert columns["line-iou@10"].tolist() == [0.0, 0.0, 0.0]


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), max_size=2),
            st.lists(st.integers(0, 2), max_size=6),
        ),
        max_size=8,
    )
)
def test_equal_queries_share_a_score_and_others_do_not(
    rows: list[tuple[list[tuple[int, int]], list[int]]],
) -> None:
    queries = tuple(
        JudgedQuery(
            sorted(rank + index for index, (rank, _) in enumerate(hits)),
            [grade for _, grade in hits],
            ideal=sorted([*ideal, *(grade for _, grade in hits)], reverse=True),
            retrieved=9,
        )
        for hits, ideal in rows
    )
    measures = parse_all(["ndcg@3", "ap", "recall@2"])
    judged = JudgedRun(
        "run",
        tuple(map(str, range(len(queries)))),
        queries,
        (QueryStatus.SCORED,) * len(queries),
        "trec10",
    )
    table = evaluate(judged, measures)
    for measure in measures:
        assert table.columns[str(measure)].tolist() == [measure.bind()(query) for query in queries]
