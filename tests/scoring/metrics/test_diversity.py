"""Measures of diversity: cases by hand, ndeval's own numbers, and a slow second implementation."""

import json
from itertools import permutations
from math import isnan, log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, JudgedQuery, Query, Run, Target
from karat.scoring.matching import judge
from karat.scoring.metrics import evaluate, parse
from karat.scoring.metrics.diversity import alpha_ndcg, err_ia, nrbp, strec

NDEVAL: dict[str, Any] = json.loads((Path(__file__).parent / "ndeval.json").read_text())


def dataset(rows: list[tuple[str, str, str, float]]) -> Dataset:
    """Return judgments of queries, subtopics and documents with a target per judgment."""
    queries: dict[str, list[Target]] = {}
    for query, subtopic, document, grade in rows:
        queries.setdefault(query, []).append(Target(document, grade, subtopics=(subtopic,)))
    return Dataset.of(
        (Query(name, "", tuple(targets)) for name, targets in queries.items()), match="document"
    )


def ndeval_data() -> tuple[Dataset, dict[str, dict[str, float]]]:
    rows = [tuple(line.split()) for line in NDEVAL["qrels"]]
    run: dict[str, dict[str, float]] = {}
    for line in NDEVAL["run"]:
        query, document, score = line.split()
        run.setdefault(query, {})[document] = float(score)
    return dataset([(q, s, d, float(grade)) for q, s, d, grade in rows]), run


@pytest.mark.parametrize("expected", NDEVAL["expected"], ids=lambda entry: entry["measure"])
def test_every_query_scores_as_in_ndeval(expected: dict[str, Any]) -> None:
    gold, run = ndeval_data()
    measure = parse(expected["measure"])
    table = evaluate(judge(gold, run), [measure])
    by_query = dict(zip(table.query_ids, table.columns[str(measure)], strict=True))
    assert {q: by_query[q] for q in expected["scores"]} == pytest.approx(
        expected["scores"], abs=1e-12
    )


def query_of(ranking: list[tuple[str, ...]], missed: list[tuple[str, ...]]) -> JudgedQuery:
    """Return a judged query; each hit and each missed target has these subtopics."""
    hits = [f"h{index}" for index in range(len(ranking))]
    targets = [
        Target(name, 1.0 if names else 0.0, subtopics=names)
        for name, names in zip(hits, ranking, strict=True)
    ]
    targets += [Target(f"m{n}", 1.0, subtopics=names) for n, names in enumerate(missed)]
    gold = Dataset.of([Query("q", "", tuple(targets))], match="document")
    run = Run.of([Answer("q", tuple(Hit(name, -float(n)) for n, name in enumerate(hits)))])
    return judge(gold, run).queries[0]


def slow_gains(ranking: list[tuple[str, ...]], alpha: float) -> list[float]:
    """Return the gains by counting all earlier hits again for each subtopic of each hit."""
    return [
        sum((1 - alpha) ** sum(name in earlier for earlier in ranking[:index]) for name in names)
        for index, names in enumerate(ranking)
    ]


NAMES = st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(tuple)
FILLED = st.lists(st.sampled_from("abc"), unique=True, min_size=1, max_size=3).map(tuple)


@given(
    st.lists(NAMES, max_size=5),
    st.lists(FILLED, min_size=1, max_size=2),
    st.sampled_from([0.2, 0.5]),
)
def test_a_slow_implementation_agrees(
    ranking: list[tuple[str, ...]], missed: list[tuple[str, ...]], alpha: float
) -> None:
    judged = query_of(ranking, missed)
    subtopics = {name for names in (*ranking, *missed) for name in names}
    gains = slow_gains(ranking, alpha)
    assert strec(judged, 3) == len({n for names in ranking[:3] for n in names}) / len(subtopics)
    total = sum(gain * 0.5**index for index, gain in enumerate(gains))
    expected = total * (1 - (1 - alpha) * 0.5) / len(subtopics)
    assert nrbp(judged, alpha=alpha) == pytest.approx(expected)
    perfect = slow_gains([tuple(subtopics)] * 3, alpha)
    ratio = [sum(gain / (n + 1) for n, gain in enumerate(part[:3])) for part in (gains, perfect)]
    assert err_ia(judged, 3, alpha=alpha) == pytest.approx(ratio[0] / ratio[1])
    # The greedy ideal may be below the best of all orders, never above it.
    orders = permutations([*ranking, *missed], 2)
    best = [slow_dcg(slow_gains(list(order), alpha)) for order in orders]
    if best:
        assert alpha_ndcg(judged, 2, alpha=alpha) >= slow_dcg(gains) / max(best) - 1e-12


def slow_dcg(gains: list[float]) -> float:
    return sum(gain / log2(index + 2) for index, gain in enumerate(gains[:2]))


def test_a_second_hit_on_a_subtopic_gains_half() -> None:
    judged = query_of([("a",), ("a",), ("b",)], [])
    own = 1 + 0.5 / log2(3) + 1 / 2
    ideal = 1 + 1 / log2(3) + 0.5 / 2
    assert alpha_ndcg(judged, 3) == pytest.approx(own / ideal)


def test_lines_of_one_file_are_targets_of_their_own() -> None:
    targets = (
        Target("a.py", 1.0, 1, 9, subtopics=("x",)),
        Target("a.py", 1.0, 20, 29, subtopics=("y",)),
    )
    gold = Dataset.of([Query("q", "", targets)], match="lines")
    run = Run.of([Answer("q", (Hit("a.py", 2.0, 1, 9), Hit("a.py", 1.0, 20, 29)))])
    judged = judge(gold, run).queries[0]
    assert (strec(judged, 1), strec(judged, 2), alpha_ndcg(judged, 2)) == (0.5, 1.0, 1.0)
    assert judged.found_ranks == [1, 2]


def test_queries_without_subtopics_are_not_scored() -> None:
    gold = Dataset.of(
        [
            Query("q1", "", (Target("a", subtopics=("x",)),)),
            Query("q2", "", (Target("a"),)),
            Query("q3", "", (Target("a", 0.0, subtopics=("x",)),)),
        ],
        match="document",
    )
    measures = [parse(name) for name in ("alpha-ndcg@5", "err-ia@5", "nrbp", "strec@5")]
    table = evaluate(judge(gold, {name: {"a": 1.0} for name in gold.query_ids}), measures)
    for column in table.columns.values():
        assert column[0] > 0
        assert isnan(column[1])
        assert isnan(column[2])


def test_nothing_found_is_nothing_earned() -> None:
    judged = query_of([(), ()], [("a",)])
    assert [alpha_ndcg(judged, 5), err_ia(judged, 5), nrbp(judged), strec(judged, 5)] == [0.0] * 4


def test_without_a_target_to_find_the_ideal_is_zero() -> None:
    judged = query_of([("a",)], [])
    assert alpha_ndcg(judged.with_subtopics(judged.subtopics._replace(targets=())), 5) == 0.0  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["alpha-ndcg(alpha=1)@5", "err-ia(alpha=-1)@5", "nrbp(beta=2)"])
def test_parameters_have_a_range(name: str) -> None:
    with pytest.raises(InputError, match="out of range; expected 0 or more and below 1"):
        parse(name).bind()(query_of([("a",)], []))
