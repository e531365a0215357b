"""Runs without lines are judged by files."""

from functools import partial

import pytest

from karat.app.baseline import make_baseline
from karat.app.compare import compare
from karat.app.gate import GateRules, gate
from karat.app.score import score
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.gate import Decision
from karat.scoring.settings import Scoring
from karat.scoring.whole_files import judge_whole_files

PARTS = (Target("a.py", 1, 3, 9), Target("a.py", 1, 20, 29), Target("b.py", 1, 1, 2))


def gold(*targets: Target, match: str = "lines") -> Dataset:
    return Dataset.of([Query("q1", "log in", targets or PARTS)], match=match)


def run(*hits: Hit, name: str = "agent") -> Run:
    return Run.of([Answer("q1", hits)], name=name)


SYMBOLS = run(Hit("x.py", symbol="f"), Hit("x.py", symbol="g"), Hit("a.py", symbol="h"))
LINES = run(Hit("x.py", 3, 1, 5), Hit("x.py", 2, 6, 9), Hit("a.py", 1, 3, 9), name="bm25")


def test_three_symbols_of_one_file_take_one_rank() -> None:
    evaluation = score(gold(), SYMBOLS, scoring=Scoring(("mrr", "recall")))
    # x.py is rank 1 and a.py rank 2, of two files; by lines a.py was at rank 3.
    assert dict(evaluation) == {"mrr": 0.5, "recall": 0.5}
    assert evaluation.notes.unit == (
        "judged by files, because the run has no lines (--match lines judges by lines)"
    )


def test_an_explicit_mode_wins() -> None:
    evaluation = score(gold(), SYMBOLS, scoring=Scoring(("mrr",), match="lines"))
    assert dict(evaluation) == {"mrr": pytest.approx(1 / 3)}
    assert evaluation.notes.unit == ""


def test_a_run_with_lines_is_judged_by_lines() -> None:
    evaluation = score(gold(), LINES, scoring=Scoring(("mrr",)))
    assert dict(evaluation) == {"mrr": pytest.approx(1 / 3)}
    assert evaluation.notes.unit == ""


def test_all_runs_of_a_comparison_are_judged_alike() -> None:
    comparison = compare(gold(), [LINES, SYMBOLS], scoring=Scoring(("mrr",)))
    assert [each["mrr"] for each in comparison.evaluations] == [0.5, 0.5]
    assert {each.notes.unit for each in comparison.evaluations} == {
        "judged by files, because agent has no lines (--match lines judges by lines)"
    }
    assert compare(gold(), [LINES, LINES], scoring=Scoring(("mrr",)))["bm25-1"]["mrr"] < 0.4


@pytest.mark.parametrize(
    ("dataset", "hits", "scoring", "match"),
    [
        (gold(match="exact"), SYMBOLS, Scoring(), None),
        (gold(match="akashic"), SYMBOLS, Scoring(), None),
        (gold(Target("a.py")), SYMBOLS, Scoring(), None),  # judged by files already
        (gold(Target("", symbol="f"), match="symbol"), LINES, Scoring(), None),  # in no file
        (gold(Target("a.py", symbol="f"), match="symbol"), SYMBOLS, Scoring(), None),
        (gold(Target("a.py", symbol="f"), match="symbol"), LINES, Scoring(), "exact"),
        (gold(), run(), Scoring(), None),
        (gold(), SYMBOLS, Scoring(min_overlap=0.5), None),
        (gold(), SYMBOLS, Scoring(("mrr", "token-recall@100")), None),
        (gold(), {"q1": {"a.py": 1.0}}, Scoring(), "exact"),
        ({"q1": {"a.py": 1.0}}, SYMBOLS, Scoring(), None),
    ],
)
def test_when_files_are_judged(
    dataset: object, hits: object, scoring: Scoring, match: str | None
) -> None:
    chosen = judge_whole_files(dataset, {"agent": hits}, scoring)  # type: ignore[arg-type, dict-item]
    assert chosen.match == match
    assert bool(chosen.unit) == (match is not None)


def test_a_gate_judges_as_its_baseline_did() -> None:
    make = partial(make_baseline, gold(), SYMBOLS, made_at="", version="", name="b")
    old = make(scoring=Scoring(("mrr",), match="lines"))
    new = make(scoring=Scoring(("mrr",)))
    assert (old.settings["match"], new.settings["match"]) == ("lines", "exact")
    for baseline in (old, new):
        outcome = gate(gold(), SYMBOLS, GateRules(), baseline=baseline)
        assert outcome.decision is Decision.PASSED
        assert outcome.checks[0].after == baseline.means["mrr"]


def test_the_sizes_of_lines_are_not_listed_by_default() -> None:
    assert "lines@10" in score(gold(), LINES)
    assert "lines@10" not in score(gold(), SYMBOLS)


def test_several_runs_without_symbols_are_named() -> None:
    data = gold(Target("a.py", symbol="f"), match="symbol")
    runs = {f"r{number}": LINES for number in range(2)}
    assert judge_whole_files(data, runs, Scoring()).unit == (
        "judged by files, because r0 and r1 have no symbols (--match symbol judges by symbols)"
    )
