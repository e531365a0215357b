"""Runs compared: which scores meet which statistics."""

from dataclasses import replace
from json import loads

import pytest

from karat.app.compare import compare
from karat.app.score import RunSource, score
from karat.errors import InputError
from karat.model import Dataset, Query, Target
from karat.report.compare_view import compare_table
from karat.report.json import result_json
from karat.report.score_view import score_table
from karat.scoring.settings import Confidence, Scoring
from tests.extension_kit import install_objects

QUERIES = [f"q{number}" for number in range(12)]
GOLD = {query: {"a.py" if index % 2 else "b.rs": 1.0} for index, query in enumerate(QUERIES)}
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
    differences = {
        value: part.difference("run1", "run2", "mrr").difference
        for value, part in contest.slices["file-type"].items()
    }
    # Where b.rs is wanted, the second run has nothing and the first has it at rank 2.
    assert differences == {".rs": -0.5, ".py": 0.0}
    assert contest.comparison.difference("run1", "run2", "mrr").difference == -0.25


def test_a_query_without_a_score_in_one_run_leaves_the_pair() -> None:
    partial = {query: ONLY_A[query] for query in QUERIES[:4]}
    trec = Scoring(("mrr",), trec=True)
    contest = compare(GOLD, [BOTH, partial], scoring=trec, confidence=FEW)
    entry = contest.comparison.difference("run1", "run2", "mrr")
    assert (entry.n, entry.missing) == (4, 8)


def test_the_verdict_says_that_a_run_lacks_queries() -> None:
    """A run of a sample is not worse because of the queries that it was not made for."""
    partial = {query: BOTH[query] for query in QUERIES[:4]}
    text = "run2 has no result for 8 of 12 queries, and each counts 0."
    contest = compare(GOLD, [BOTH, partial], scoring=MRR, confidence=FEW)
    assert contest.verdict.startswith("run1 is better than run2: mrr")
    assert contest.verdict.endswith(text)
    both = compare(GOLD, [partial, {**partial, "q4": {"c": 1.0}}], scoring=MRR, confidence=FEW)
    assert "run1 has no result for 8 of 12 queries" in both.verdict
    assert "run2 has no result for 7 of 12 queries" in both.verdict
    # As trec_eval does: the others are left out.
    trec = compare(GOLD, [BOTH, partial], scoring=Scoring(("mrr",), trec=True), confidence=FEW)
    assert "no result" not in trec.verdict
    nearly = {query: BOTH[query] for query in QUERIES[:11]}
    assert "no result" not in compare(GOLD, [BOTH, nearly], scoring=MRR, confidence=FEW).verdict


def test_names_are_given_or_found() -> None:
    contest = compare(GOLD, [BOTH, ONLY_A], scoring=MRR, confidence=FEW, names=["x", "y"])
    assert contest.comparison.systems == ("x", "y")


def test_sums_alone_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="no measure to compare"):
        compare(GOLD, [BOTH, ONLY_A], scoring=Scoring(("num-ret",)), confidence=FEW)


def test_questions_of_one_case_are_drawn_together_and_a_note_says_so() -> None:
    """Four questions each about six cases tell no more than six: the intervals are wider."""
    rows = range(24)
    queries = [
        Query(f"q{row}", "", (Target("ab"[row // 4 % 2]),), {"commit": f"c{row // 4}"})
        for row in rows
    ]
    run, other = ({f"q{row}": {name: 1.0} for row in rows} for name in "ab")
    alone = Dataset.of(queries)
    grouped = Dataset.of(queries, metadata={"cluster": "commit"})
    widths = []
    for gold in (alone, grouped):
        interval = score(gold, run, scoring=MRR, confidence=FEW).summaries[0].interval
        assert interval is not None
        assert interval.low is not None
        assert interval.high is not None
        widths.append(interval.high - interval.low)
    assert widths[1] > 1.5 * widths[0]
    asked = score(alone, run, scoring=MRR, confidence=replace(FEW, cluster="commit"))
    assert asked == score(grouped, run, scoring=MRR, confidence=FEW)
    line = "24 queries in 6 groups that belong together: intervals and tests resample whole groups"
    assert line in score_table(asked).notes
    assert line in compare_table(compare(grouped, [run, other], scoring=MRR, confidence=FEW)).notes
    plain = compare_table(compare(alone, [run, other], scoring=MRR, confidence=FEW))
    assert line not in plain.notes


def test_wilcoxon_does_not_count_a_last_digit_as_a_difference() -> None:
    # 1/1 + 2/12 and 1/2 + 2/3 are both 7/6, but not in floating point.
    gold = {query: {"a": 1.0, "b": 1.0} for query in QUERIES}

    def found_at(first: int, second: int) -> dict[str, dict[str, float]]:
        names = {first: "a", second: "b"}
        ranking = {names.get(rank, f"x{rank}"): -float(rank) for rank in range(1, 13)}
        return dict.fromkeys(QUERIES, ranking)

    contest = compare(
        gold,
        [found_at(1, 12), found_at(2, 3)],
        scoring=Scoring(("ap",)),
        confidence=replace(FEW, wilcoxon=True),
    )
    assert contest.further_tests[0].endswith("p = 1.0000 (exact, 0 differences)")


def test_set_measures_of_lists_of_different_length_end_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = {
        query: {"a.py": 99.0, "b.rs": 98.0} | {f"{index}.c": index for index in range(48)}
        for query in QUERIES
    }
    runs: list[RunSource] = [BOTH, long, {query: {} for query in QUERIES}]
    names = ["short", "long", "nothing"]
    contest = compare(
        GOLD, runs, scoring=Scoring(("set-f1", "set-precision", "mrr")), confidence=FEW, names=names
    )
    assert contest.notes == (
        "set-f1 and set-precision count all returned hits, and the runs returned different numbers "
        "per query: short 2 and long 50; compare f1@2 and precision@2 instead, or cut all runs "
        "with --depth 2.",
    )
    assert contest.verdict.endswith(contest.notes[0])
    assert compare_table(contest).conclusion == contest.verdict
    assert loads(result_json(contest, {}))["notes"] == list(contest.notes)
    assert contest.evaluations[1].notes.hits_per_query == 50
    install_objects(monkeypatch, "metric", {"set-own": "karat.scoring.metrics.sets:set_f1"})
    alone = compare(GOLD, [BOTH, long], scoring=Scoring(("set-own",)), confidence=FEW)
    assert alone.notes[0].endswith("run2 50; cut all runs with --depth 2.")
    # One length, or measures that look at ranks: nothing to warn of.
    for fair in (Scoring(("set-f1",), depth=2), MRR):
        assert compare(GOLD, [BOTH, long], scoring=fair, confidence=FEW).notes == ()
