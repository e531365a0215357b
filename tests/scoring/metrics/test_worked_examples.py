"""Cases worked by hand, from the descriptions of the systems that Karat replaces."""

from math import log2

import pytest

from karat.model import Answer, Dataset, Hit, Outcome, Query, QueryStatus, Run, Target
from karat.scoring.matching import judge
from karat.scoring.metrics import average, evaluate, parse_all


def scores(truth: Dataset, hits: list[Hit], *measures: str) -> dict[str, float]:
    """Return the scores of one query's hits."""
    judged = judge(truth, Run.of([Answer("q", tuple(hits))]))
    table = evaluate(judged, parse_all(measures))
    return {name: column[0] for name, column in table.columns.items()}


def lines(*targets: Target) -> Dataset:
    return Dataset.of([Query("q", "", targets)], match="lines")


def test_two_ranges_found_at_ranks_two_and_three() -> None:
    truth = lines(Target("fileA", 2, 10, 50), Target("fileB", 1, 20, 30))
    hits = [
        Hit("fileC", start_line=1, end_line=10),
        Hit("fileA", start_line=30, end_line=60),
        Hit("fileB", start_line=25, end_line=35),
    ]
    metrics = scores(truth, hits, "hit@5", "mrr", "dcg@10", "ndcg@10", "recall@10")
    assert metrics["hit@5"] == 1
    assert metrics["mrr"] == 0.5
    assert metrics["dcg@10"] == pytest.approx(2 / log2(3) + 1 / log2(4))
    assert metrics["ndcg@10"] == pytest.approx(0.6697, abs=5e-5)
    assert metrics["recall@10"] == 1.0


def test_two_chunks_of_one_target_never_exceed_one() -> None:
    """Crediting both would give 1 + 0.63 over an ideal of 1, an NDCG of 1.63."""
    hits = [Hit("a.rs", 2.0, 1, 20), Hit("a.rs", 1.0, 21, 40)]
    metrics = scores(
        lines(Target("a.rs", 1, 10, 30)), hits, "ndcg@10", "recall@10", "ap", "f1@2", "precision@2"
    )
    assert metrics == {
        "ndcg@10": 1.0,
        "recall@10": 1.0,
        "ap": 1.0,
        "f1@2": pytest.approx(2 / 3),
        "precision@2": 0.5,
    }


def test_one_hit_on_two_targets_is_recalled_twice_and_gains_once() -> None:
    truth = lines(Target("a.rs", 1, 1, 10), Target("a.rs", 3, 20, 30))
    metrics = scores(
        truth, [Hit("a.rs", 1.0, 5, 25)], "recall@1", "dcg@1", "ndcg@10", "precision@1"
    )
    assert metrics["recall@1"] == 1.0
    assert metrics["dcg@1"] == 3.0
    assert metrics["ndcg@10"] == pytest.approx(3 / (3 + 1 / log2(3)))
    assert metrics["precision@1"] == 1.0


def test_chunks_collapse_to_documents_before_the_cut() -> None:
    """Six chunks of three documents: the third document stands at rank 3, not at 5."""
    chunks = [("d1", 9), ("d1", 8), ("d2", 7), ("d1", 6), ("d3", 5), ("d2", 4)]
    hits = [Hit(name, score, row, row) for row, (name, score) in enumerate(chunks, 1)]
    truth = Dataset.of([Query("q", "", (Target("d3", 2), Target("d2", 1)))], match="document")
    metrics = scores(truth, hits, "mrr", "recall@3", "precision@3", "ndcg@3")
    assert metrics["mrr"] == 0.5
    assert metrics["recall@3"] == 1.0
    assert metrics["precision@3"] == pytest.approx(2 / 3)
    assert metrics["ndcg@3"] == pytest.approx((1 / log2(3) + 2 / 2) / (2 + 1 / log2(3)))


GRADES = {"q": {"doc_1": 1.0, "doc_2": 0.5, "doc_3": 0.0}}
CUTS = (1, 3, 5, 10)


def ndcg_at_each_cut(*ranking: str) -> list[float]:
    run = {"q": {name: -float(rank) for rank, name in enumerate(ranking)}}
    table = evaluate(judge(GRADES, run), parse_all(f"ndcg@{k}" for k in CUTS))
    return [column[0] for column in table.columns.values()]


def test_a_ranking_by_descending_grade_is_ideal_at_every_cut() -> None:
    assert ndcg_at_each_cut("doc_1", "doc_2", "doc_3") == [1.0] * 4


def test_the_ranking_called_improved_is_worse() -> None:
    first, third, *deeper = ndcg_at_each_cut("doc_2", "doc_1", "doc_3")
    assert first == 0.5
    assert third - 1 == pytest.approx(-0.1403, abs=5e-5)
    assert deeper == [third, third]


def test_the_ideal_comes_from_all_judgments_not_from_those_retrieved() -> None:
    assert ndcg_at_each_cut("doc_2")[1] == pytest.approx(0.5 / (1 + 0.5 / log2(3)))


def set_f1(retrieved: list[str], relevant: list[str], match: str = "directory") -> float:
    targets = tuple(Target(path) for path in relevant)
    truth = Dataset.of([Query("q", "", targets)], match=match)
    run = Run.of([Answer("q", tuple(Hit(path) for path in retrieved))])
    table = evaluate(judge(truth, run), parse_all(["set-f1"]), score_unjudged=True)
    return table.columns["set-f1"][0]


@pytest.mark.parametrize("match", ["exact", "directory"])
@pytest.mark.parametrize(
    ("retrieved", "relevant", "expected"),
    [
        ([], [], 1.0),
        (["a.py"], [], 0.0),
        ([], ["a.py"], 0.0),
        (["a.py"], ["a.py"], 1.0),
        (["a.py"], ["b.py"], 0.0),
        (["a.py", "b.py"], ["a.py"], 2 / 3),
        (["a.py"], ["a.py", "b.py"], 2 / 3),
        (["a.py", "b.py", "c.py"], ["a.py", "b.py", "d.py"], 2 / 3),
    ],
)
def test_f1_of_two_sets(
    match: str, retrieved: list[str], relevant: list[str], expected: float
) -> None:
    assert set_f1(retrieved, relevant, match) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("retrieved", "relevant", "expected"),
    [
        (["src/auth"], ["src/auth/login.py"], 0.5),
        (["src/auth"], ["src/authority/login.py"], 0.0),
        (["src/auth/"], ["src/auth/login.py"], 0.5),
        (["src/auth/login.py"], ["src/auth"], 0.0),
        (["src/auth", "src/auth/login.py"], ["src/auth/login.py"], 2 * 0.75 / 1.75),
        (["src/auth"], ["src/auth/login.py", "src/auth/logout.py"], 0.5),
        (["src/auth", "a.py"], ["src/auth/login.py", "a.py"], 0.75),
    ],
)
def test_a_directory_above_the_target_earns_half(
    retrieved: list[str], relevant: list[str], expected: float
) -> None:
    assert set_f1(retrieved, relevant) == pytest.approx(expected)


def test_what_is_unjudged_is_left_out_and_what_is_missing_counts_nothing() -> None:
    truth = {"found": {"a": 1}, "missing": {"a": 1}, "broken": {"a": 1}, "unjudged": {"a": 0}}
    answers = [Answer("found", (Hit("a"),)), Answer("unjudged", (Hit("a"),))]
    run = Run.of([*answers, Answer("broken", (Hit("a"),), Outcome.TIMEOUT)])
    table = evaluate(judge(truth, run), parse_all(["mrr"]))
    assert list(table.columns["mrr"][:3]) == [1.0, 0.0, 0.0]
    assert average(table.columns["mrr"]) == pytest.approx(1 / 3)
    assert [table.count(status) for status in QueryStatus] == [1, 1, 0, 1, 1]
    every = evaluate(judge(truth, run), parse_all(["mrr"]), score_unjudged=True)
    assert average(every.columns["mrr"]) == pytest.approx(1 / 4)


def test_a_whole_file_wins_every_overlap_and_its_size_shows_it() -> None:
    truth = lines(Target("a.py", 1, 101, 110))
    measures = ("hit@1", "recall@1", "line-precision@1", "line-iou@1", "lines@1", "tokens@1")
    whole = scores(truth, [Hit("a.py", 1.0, 1, 1000, tokens=9000)], *measures)
    exact = scores(truth, [Hit("a.py", 1.0, 101, 110, tokens=90)], *measures)
    assert list(whole.values()) == [1.0, 1.0, 0.01, 0.01, 1000.0, 9000.0]
    assert list(exact.values()) == [1.0, 1.0, 1.0, 1.0, 10.0, 90.0]
