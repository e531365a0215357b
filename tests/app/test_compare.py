"""Runs compared: which scores meet which statistics."""

import pytest

from karat.app.compare import compare
from karat.app.score import score
from karat.app.settings import Confidence, Scoring
from karat.errors import InputError

QUERIES = [f"q{number}" for number in range(12)]
GOLD = {query: {"a.py" if place % 2 else "b.rs": 1.0} for place, query in enumerate(QUERIES)}
BOTH = {query: {"a.py": 2.0, "b.rs": 1.0} for query in QUERIES}
ONLY_A = {query: {"a.py": 1.0} for query in QUERIES}
MRR = Scoring(("mrr",))
FEW = Confidence(draws=199)


def test_means_are_those_of_each_run_alone() -> None:
    contest = compare(GOLD, [BOTH, ONLY_A], scoring=MRR, confidence=FEW)
    for run, evaluation in zip((BOTH, ONLY_A), contest.evaluations, strict=True):
        alone = score(GOLD, run, scoring=MRR, name=evaluation.name)
        assert evaluation == alone
        assert contest.comparison.mean(evaluation.name, "mrr").mean == alone["mrr"]


def test_slices_split_the_queries() -> None:
    contest = compare(GOLD, [BOTH, ONLY_A], scoring=MRR, confidence=FEW, by=["file-type"])
    found = {
        value: part.difference("run1", "run2", "mrr").difference
        for value, part in contest.slices["file-type"].items()
    }
    # Where b.rs is wanted, the second run has nothing and the first has it at rank 2.
    assert found == {".rs": -0.5, ".py": 0.0}
    assert contest.comparison.difference("run1", "run2", "mrr").difference == -0.25


def test_a_query_without_a_score_in_one_run_leaves_the_pair() -> None:
    partial = {query: ONLY_A[query] for query in QUERIES[:4]}
    trec = Scoring(("mrr",), trec=True)
    contest = compare(GOLD, [BOTH, partial], scoring=trec, confidence=FEW)
    entry = contest.comparison.difference("run1", "run2", "mrr")
    assert (entry.n, entry.missing) == (4, 8)


def test_names_are_given_or_found() -> None:
    contest = compare(GOLD, [BOTH, ONLY_A], scoring=MRR, confidence=FEW, names=["x", "y"])
    assert contest.comparison.systems == ("x", "y")


def test_sums_alone_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="no measure to compare"):
        compare(GOLD, [BOTH, ONLY_A], scoring=Scoring(("num-rel-ret",)), confidence=FEW)
