"""What a report gathers of runs and their gold set."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from karat.app.report import breakdown_tags, gather, origin, report, with_timings
from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.timings import LatencySample, RunResult, Timings
from karat.report.draw import draw
from karat.report.findings import Origin
from karat.report.page.queries import subject_of
from karat.report.page.results import details
from karat.scoring.metrics import parse
from karat.scoring.settings import Confidence, Scoring

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"
ORIGIN = Origin("now", "1", "3", "Linux", "", ("",))


def demo(*names: str) -> tuple[Dataset, tuple[RunResult, ...]]:
    """Return the gold set of the demo and the runs called *names*."""
    inputs = gather(
        [str(DEMO / "gold.json"), *(str(DEMO / f"{each}.run") for each in names)], store=""
    )
    return inputs.gold, inputs.runs


def test_the_demo_agrees_with_compare() -> None:
    from karat.api import compare

    paths = [str(DEMO / f"{name}.run") for name in ("keyword", "bm25")]
    gold, runs = demo("keyword", "bm25")
    findings = report(gold, runs, origin=ORIGIN, confidence=Confidence(draws=199))
    expected = compare(gold, paths, draws=199)
    assert findings.contest.comparison == expected.comparison
    assert findings.contest.verdict == expected.verdict
    assert findings.names == ("keyword", "bm25")
    assert findings.latency is None


def test_a_curve_goes_through_its_measure_and_ends_at_the_depth() -> None:
    gold, runs = demo("bm25")
    findings = report(gold, runs, origin=ORIGIN, confidence=Confidence(draws=99))
    curve = findings.curves[0]
    assert (curve.metric, curve.ks) == ("ndcg", (1, 2, 3, 5, 10, 20))
    mean = findings.contest.evaluations[0]["ndcg@10"]
    assert curve.means[0][curve.ks.index(10)] == mean
    assert [entry.metric for entry in findings.curves] == ["ndcg", "mrr", "hit", "recall"]


def test_the_first_rank_is_that_of_reciprocal_rank() -> None:
    gold, runs = demo("keyword")
    scoring = Scoring(("mrr",))
    findings = report(gold, runs, origin=ORIGIN, scoring=scoring, confidence=Confidence(draws=99))
    for query, score in enumerate(findings.scores(0)):
        ranks = [rank for rank in findings.traces[0][query].ranks if rank]
        assert score == pytest.approx(1 / min(ranks) if ranks else 0.0)


def test_tags_that_tell_kinds_apart() -> None:
    def tagged(**tags: str) -> Query:
        number = tags["number"]
        return Query(number, "", (Target(f"a{number}.py"),), tags)

    gold = Dataset.of(
        [
            tagged(number="1", kind="a", same="s"),
            tagged(number="2", kind="b", same="s"),
            tagged(number="3", kind="b", same="s"),
        ]
    )
    assert breakdown_tags(gold) == ["kind"]
    together = Dataset.of(list(gold.queries()), metadata={"cluster": "kind"})
    assert breakdown_tags(together) == []


def test_set_f1_looks_at_everything_returned() -> None:
    gold = Dataset.of([Query("q1", "", (Target("a"), Target("b")))])
    run = Run.of([Answer("q1", (Hit("a"), Hit("x"), Hit("y"), Hit("b")))])
    findings = report(gold, [RunResult(run, None, "", "r")], origin=ORIGIN)
    # Precision 2/4, recall 2/2.
    assert findings.f1[0][0] == pytest.approx(2 / 3)
    assert parse("set-f1").k is None


def test_a_lowest_grade_holds_for_all_measures_that_do_not_say_theirs() -> None:
    gold = Dataset.of([Query("q1", "", (Target("a", 2.0), Target("b", 1.0)))])
    run = Run.of([Answer("q1", (Hit("b"), Hit("x")))])
    scoring = Scoring(("hit@5", "precision(level=0)@5"), level=2.0)
    findings = report(gold, [RunResult(run, None, "", "r")], origin=ORIGIN, scoring=scoring)
    assert findings.f1[0][0] == 0.0
    assert (findings.scores(0, "hit(level=2)@5"), findings.scores(0, "precision@5")) == (
        [0.0],
        [0.2],
    )


def test_an_origin_has_the_digests_of_its_files() -> None:
    path = DEMO / "bm25.run"
    inputs = gather([str(DEMO / "gold.json"), str(path)], store="")
    made = origin(inputs.gold, inputs.digests, made_at="then", version="1")
    assert made.run_digests == (sha256(path.read_bytes()).hexdigest(),)
    assert len(made.gold_digest) == 64


def test_no_run_is_no_report() -> None:
    with pytest.raises(InputError, match="no run to report on"):
        report(Dataset.of([]), [], origin=ORIGIN)


def test_runs_that_rank_alike_are_told() -> None:
    gold, (first, second) = demo("keyword", "bm25")
    again = replace(second, name="again")
    findings = report(gold, [first, second, again], origin=ORIGIN, confidence=Confidence(draws=99))
    said = "2 configurations gave the same rankings: bm25; again"
    assert findings.remarks == (said,)
    three = replace(findings, origin=replace(ORIGIN, run_digests=("",) * 3))
    assert all(said in draw(three, name) for name in ("x.md", "x.json"))
    assert details(subject_of(three))["remarks"] == [said]


def test_timings_and_notes_that_come_later_make_the_same_report() -> None:
    gold = Dataset.of(
        [
            Query("q1", "one", (Target("a.py", grade=1.0), Target("gone.py", grade=1.0))),
            Query("q2", "two", (Target("b.py", grade=1.0),)),
        ]
    )
    hits = Run.of([Answer("q1", (Hit("a.py"),)), Answer("q2", ())], name="one")
    before = RunResult(hits, None, "", "one")
    notes = {"unresolved": {"q1": ["gone.py"]}, "invalid": {"missing": 2}}
    sample = LatencySample("q1", 1_000_000, (900_000, 800_000))
    timings = Timings((sample,), 1, 0, 0, warm_up=0, repetitions=2, alone=True)
    later = replace(before, timings=timings, notes=notes)
    scoring = Scoring(measures=("recall@10",))
    whole = report(gold, [later], origin=ORIGIN, scoring=scoring)
    timed = with_timings(report(gold, [before], origin=ORIGIN, scoring=scoring), [later])
    assert whole.resolved is not None
    assert timed.resolved == whole.resolved
    assert timed.runs == whole.runs
    assert timed.remarks == whole.remarks
    assert timed.run_remarks == whole.run_remarks
    notes_of = [each.contest.evaluations[0].notes for each in (timed, whole)]
    assert notes_of[0] == notes_of[1]
    assert notes_of[0].invalid == {"missing": 2}
    again = with_timings(timed, [later])
    assert again.contest.evaluations[0].notes.invalid == {"missing": 2}
