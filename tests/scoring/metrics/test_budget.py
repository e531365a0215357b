"""Cut-offs in tokens: what a reader has found who stops before the hit that is too much."""

from math import isnan, log2
from operator import le

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, JudgedQuery, Query, Run, Target
from karat.model.judged import Sizes
from karat.scoring.matching import judge
from karat.scoring.metrics import METRICS, evaluate, parse

ABLE = [name for name in METRICS.core() if METRICS.get(name).budgets]


def sizes(tokens: list[int]) -> Sizes:
    unknown = [-1] * len(tokens)
    return Sizes(unknown, unknown, unknown, tokens, -1)


# Grades 2 and 1 at ranks 2 and 4, one more target of grade 1 is not found.
QUERY = JudgedQuery(
    [2, 4], [2, 1], ideal=[2, 1, 1], retrieved=5, sizes=sizes([100, 200, 300, 400, 500])
)
IDEAL = 2 + 1 / log2(3) + 1 / 2


def score(measure: str, query: JudgedQuery = QUERY) -> float:
    return parse(measure).bind()(query)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("recall@299tok", 0),
        ("recall@300tok", 1 / 3),
        ("recall@999tok", 1 / 3),
        ("recall@1000tok", 2 / 3),
        ("recall@99999tok", 2 / 3),
        ("recall(level=2)@300tok", 1),
        ("hit@299tok", 0),
        ("hit@300tok", 1),
        ("mrr@300tok", 1 / 2),
        ("acc(level=2)@300tok", 1),
        ("acc@1000tok", 0),
        ("ap@1000tok", (1 / 2 + 2 / 4) / 3),
        ("precision@99tok", 0),
        ("precision@600tok", 1 / 3),
        ("precision@1500tok", 2 / 5),
        ("f1@300tok", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
        ("dcg@300tok", 2 / log2(3)),
        ("ndcg@300tok", 2 / log2(3) / IDEAL),
        ("ndcg@1000tok", (2 / log2(3) + 1 / log2(5)) / IDEAL),
        ("ndcg(gain=exp)@300tok", 3 / log2(3) / (3 + 1 / log2(3) + 1 / 2)),
        ("rbp(p=0.5)@1000tok", 0.5 * (0.5 + 0.125)),
        ("token-recall@1000", 2 / 3),
    ],
)
def test_worked_by_hand(measure: str, expected: float) -> None:
    assert score(measure) == pytest.approx(expected)


def test_the_name_is_canonical_and_the_label_as_typed() -> None:
    measure = parse("nDCG@2000 tokens")
    assert str(measure) == "ndcg@2000tok"
    assert (measure.k, measure.tokens, measure.label) == (None, 2000, "nDCG@2000 tokens")
    assert parse(str(measure)) == measure
    assert parse("ndcg@2000") != measure
    assert measure.counts_tokens
    assert measure.needs_sizes
    assert not measure.expected_ties


@pytest.mark.parametrize("name", ABLE)
def test_without_known_tokens_there_is_no_score(name: str) -> None:
    assert isnan(score(f"{name}@500tok", JudgedQuery([1], [1], ideal=[1], retrieved=1)))
    some = JudgedQuery([1], [1], ideal=[1], retrieved=2, sizes=sizes([10, -1]))
    assert isnan(score(f"{name}@500tok", some))
    # What is unknown lies beyond the end.
    assert not isnan(score(f"{name}@9tok", some))


@pytest.mark.parametrize("name", ABLE)
def test_nothing_that_fits_is_an_empty_answer(name: str) -> None:
    assert score(f"{name}@99tok") == 0


rankings = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50)), min_size=1, max_size=12)


@given(rankings, st.integers(1, 300))
def test_one_token_for_each_hit_is_a_cut_off_in_hits(
    ranking: list[tuple[int, int]], budget: int
) -> None:
    ranked = [(rank, float(grade)) for rank, (grade, _) in enumerate(ranking, 1) if grade]
    query = JudgedQuery(
        [rank for rank, _ in ranked],
        [grade for _, grade in ranked],
        ideal=sorted((grade for _, grade in ranked), reverse=True),
        retrieved=len(ranking),
        sizes=sizes([1] * len(ranking)),
    )
    for name in ("recall", "mrr", "hit", "ap", "dcg", "rbp"):
        assert score(f"{name}@{budget}tok", query) == pytest.approx(
            score(f"{name}@{budget}", query)
        )


@given(rankings, st.lists(st.integers(1, 600), min_size=2, max_size=2).map(sorted))
def test_a_larger_budget_never_lowers_a_score(
    ranking: list[tuple[int, int]], budgets: list[int]
) -> None:
    ranked = [(rank, float(grade)) for rank, (grade, _) in enumerate(ranking, 1) if grade]
    query = JudgedQuery(
        [rank for rank, _ in ranked],
        [grade for _, grade in ranked],
        ideal=[2.0, *sorted((grade for _, grade in ranked), reverse=True)],
        retrieved=len(ranking),
        sizes=sizes([tokens for _, tokens in ranking]),
    )
    for name in set(ABLE) - {"precision", "f1"}:
        assert le(*(score(f"{name}@{budget}tok", query) for budget in budgets)), name


GOLD = Dataset.of([Query("q", "log in", (Target("a.py"), Target("b.py")))])
HITS = (
    Hit("c.py", 4.0, 1, 9, tokens=100),
    Hit("c.py", 3.0, 20, 29, tokens=50),
    Hit("a.py", 2.0, 1, 9, tokens=100),
    Hit("b.py", 1.0, 1, 9, tokens=500),
)


def recalls(run: Run, gold: Dataset = GOLD, **settings: object) -> list[float]:
    measures = [parse(f"recall@{budget}tok") for budget in (249, 250, 749, 750)]
    judged = judge(gold, run, sizes=True, **settings)  # type: ignore[arg-type]
    table = evaluate(judged, measures)
    return [table.columns[str(measure)][0] for measure in measures]


@pytest.mark.parametrize("match", ["document", "exact", "lines", "directory"])
def test_a_file_is_found_when_it_is_shown_and_further_hits_in_a_file_are_read_too(
    match: str,
) -> None:
    assert recalls(Run.of([Answer("q", HITS)]), match=match) == [0, 0.5, 0.5, 1]


def test_the_order_of_reading_is_that_of_judging() -> None:
    equal = Run.of([Answer("q", tuple(hit._replace(score=1.0) for hit in HITS))])
    assert recalls(equal, ties="order") == [0, 0.5, 0.5, 1]
    # By descending id: c.py with its second part first, b.py, a.py.
    assert recalls(equal, ties="trec10") == [0, 0, 0.5, 1]
    assert recalls(equal, ties="worst") == [0, 0.5, 0.5, 1]
    assert recalls(equal, ties="best") == [0.5, 0.5, 1, 1]


def test_hits_that_are_dropped_as_unjudged_are_not_read() -> None:
    assert recalls(Run.of([Answer("q", HITS)]), judged_only=True) == [0.5, 0.5, 1, 1]


def test_a_missing_answer_finds_nothing_and_a_run_without_tokens_is_unknown() -> None:
    two = Dataset.of([*GOLD.queries(), Query("r", "log out", (Target("a.py"),))])
    table = evaluate(judge(two, Run.of([Answer("q", HITS)]), sizes=True), [parse("recall@9999tok")])
    assert list(table.columns["recall@9999tok"]) == [1, 0]
    without = Run.of([Answer("q", tuple(hit._replace(tokens=-1) for hit in HITS))])
    table = evaluate(judge(two, without, sizes=True), [parse("recall@9999tok")])
    assert all(map(isnan, table.columns["recall@9999tok"]))


def test_tied_runs_have_no_expected_value_of_a_budget() -> None:
    equal = Run.of([Answer("q", tuple(hit._replace(score=1.0) for hit in HITS))])
    with pytest.raises(InputError, match="'expected' is not defined for: recall@249tok"):
        recalls(equal, ties="expected")


def test_lines_of_file_targets_stay_unknown() -> None:
    judged = judge(GOLD, Run.of([Answer("q", HITS)]), sizes=True)
    assert isnan(score("line-precision@5", judged.queries[0]))
    assert isnan(score("line-iou@5", judged.queries[0]))
