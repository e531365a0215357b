"""A run that returns nothing is broken, not worse: its reason takes the place of the verdict."""

from collections.abc import Mapping, Sequence

import pytest

import karat
from karat.app.baseline import make_baseline
from karat.app.evaluate import score_runs
from karat.app.gate import GateRules, gate
from karat.app.report import origin, report
from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import RunResult
from karat.report.draw import draw
from karat.report.findings import Findings
from karat.report.findings.recommend import headline_with_broken, recommendations
from karat.scoring.compare import compare_scored_runs
from karat.scoring.metrics import parse
from karat.scoring.settings import Confidence, Scoring

GOLD = Dataset.of([Query(f"q{n}", f"question {n}", (Target(f"{n}.py"),)) for n in range(20)])
SCORING = Scoring(("mrr",))
CONFIDENCE = Confidence(draws=99)
NOTHING = "returned no hits for 20 of 20 queries"


def run(
    name: str,
    hits: Sequence[str] = (),
    *,
    errors: Mapping[int, str] = {},
    about: Mapping[str, object] = {},
) -> RunResult:
    """Return a run with the same *hits* for every query, `{n}` being its number, and *errors*."""
    answers = [
        Answer(f"q{n}", (), Outcome.ERROR, extra={"error": errors[n]})
        if n in errors
        else Answer(f"q{n}", tuple(Hit(hit.format(n=n)) for hit in hits))
        for n in range(len(GOLD))
    ]
    return RunResult(Run.of(answers, name=name, metadata=about), None, "", name)


GOOD, SECOND = run("good", ["{n}.py"]), run("second", ["other.py", "{n}.py"])


def verdict(*runs: RunResult) -> str:
    scored = score_runs(GOLD, runs, SCORING)
    measures = SCORING.parsed(GOLD)
    contest = compare_scored_runs(GOLD, scored, measures=measures, confidence=CONFIDENCE)
    return contest.verdict


def test_a_run_without_any_hit_is_not_worse() -> None:
    assert verdict(run("web"), GOOD) == f"No verdict on web: {NOTHING}."
    assert verdict(GOOD, run("web"), run("svc")) == f"No verdict on web and svc: {NOTHING}."


def test_the_other_runs_get_their_verdict() -> None:
    text = verdict(run("web"), SECOND, GOOD)
    assert text.startswith("good has the highest mrr, 1.000, and is better than second (+0.500")
    assert text.endswith(f" No verdict on web: {NOTHING}.")
    assert "no score" not in text


def test_the_warning_says_what_to_look_at() -> None:
    about = {"snapshot": "corpus"}
    (evaluation,) = score_runs(GOLD, [run("web", about=about)], SCORING)
    shows = "karat engines check SPEC --corpus DIR --query TEXT shows why"
    assert evaluation.warnings == (f"web: {NOTHING}; {shows}",)
    (evaluation,) = score_runs(GOLD, [run("web", about={**about, "threshold": 0.9})], SCORING)
    assert evaluation.warnings == (f"web: {NOTHING}; its threshold is 0.9",)
    (evaluation,) = score_runs(GOLD, [run("file")], SCORING)
    assert evaluation.warnings == (f"file: {NOTHING}",)


@pytest.mark.parametrize("failed", [10, 11, 19])
def test_the_same_error_for_most_queries_is_the_reason(failed: int) -> None:
    errors = {n: f"web: exit code 3: no index for query {n}\n  line 2" for n in range(failed)}
    (evaluation,) = score_runs(GOLD, [run("web", ["{n}.py"], errors=errors)], SCORING)
    reason = f"the same error for {failed} of 20 queries: exit code 3: no index for query 0"
    assert evaluation.reason == (reason if failed > 10 else "")
    if failed > 10:
        assert (
            verdict(run("web", ["{n}.py"], errors=errors), GOOD) == f"No verdict on web: {reason}."
        )


def test_different_errors_are_results() -> None:
    errors = {n: "abcdefghijklmnopqrst"[n] * 3 for n in range(19)}
    (evaluation,) = score_runs(GOLD, [run("web", ["{n}.py"], errors=errors)], SCORING)
    assert not evaluation.broken


def test_hits_that_are_no_targets_are_a_bad_search() -> None:
    bad = run("bad", ["19.py"])
    assert verdict(bad, GOOD).startswith("good is better than bad: mrr +0.950")


def test_queries_without_an_answer_are_no_fault() -> None:
    without = Dataset.of([Query(f"q{n}", "no such thing") for n in range(20)])
    (evaluation,) = score_runs(without, [run("web")], SCORING)
    assert not evaluation.broken
    assert evaluation.warnings == ()
    # One query with an answer is enough to expect a hit.
    mixed = without.with_queries(
        [*list(without.queries())[:19], Query("q19", "", (Target("a.py"),))]
    )
    (evaluation,) = score_runs(mixed, [run("web")], SCORING)
    assert evaluation.reason == NOTHING
    # A hit for any query says that the engine answers, even where it should not.
    (evaluation,) = score_runs(mixed, [run("web", ["{n}.py"])], SCORING)
    assert not evaluation.broken


def test_hits_below_the_depth_or_without_a_judgment_are_hits() -> None:
    scoring = Scoring(("mrr",), judged_only=True)
    (evaluation,) = score_runs(GOLD, [run("web", ["other.py"])], scoring)
    assert not evaluation.broken


def test_dictionaries_without_hits_are_broken_in_python() -> None:
    gold = {f"q{n}": {f"d{n}": 1.0} for n in range(9)}
    good = {f"q{n}": {f"d{n}": 1.0} for n in range(9)}
    nothing: dict[str, dict[str, float]] = {f"q{n}": {} for n in range(9)}
    contest = karat.compare(gold, {"good": good, "empty": nothing}, ["mrr"], draws=99)
    assert contest.broken == ("empty",)
    assert contest.verdict == "No verdict on empty: returned no hits for 9 of 9 queries."
    assert contest["empty"].reason == "returned no hits for 9 of 9 queries"


def test_a_broken_run_is_no_baseline_and_fails_a_gate() -> None:
    scoring = Scoring(("mrr",))
    with pytest.raises(InputError, match=f"cannot be a baseline: web: {NOTHING}"):
        make_baseline(GOLD, run("web").run, name="web", made_at="", version="", scoring=scoring)
    rules = GateRules(minimums={parse("mrr"): 0.1})
    outcome = gate(GOLD, run("web").run, rules, scoring=scoring, confidence=CONFIDENCE)
    assert outcome.closed
    assert outcome.notes[0] == f"web: {NOTHING}"


def findings(*runs: RunResult) -> Findings:
    return report(
        GOLD,
        runs,
        scoring=SCORING,
        confidence=CONFIDENCE,
        origin=origin(GOLD, [""] * len(runs), made_at="", version=""),
    )


def headline(*runs: RunResult) -> str:
    """Return the headline of a report on *runs*, which never recommends the run ``web``."""
    reported = findings(*runs)
    assert not [each for each in recommendations(reported) if each.run == "web"]
    return headline_with_broken(reported.contest.comparison, reported.contest.evaluations)


@pytest.mark.parametrize("name", ["r.html", "r.md", "r.json", "r.csv", "r.tex"])
@pytest.mark.parametrize("runs", [(run("web"), GOOD), (run("web"),), (run("web"), SECOND, GOOD)])
def test_every_report_on_a_broken_run_can_be_drawn(runs: Sequence[RunResult], name: str) -> None:
    text = draw(findings(*runs), name)
    assert "is better than web" not in text
    if name in ("r.md", "r.json"):
        assert NOTHING in text


def test_a_report_says_it_and_recommends_another_run() -> None:
    assert headline(run("web"), GOOD) == f"No verdict on web: {NOTHING}."
    three = headline(run("web"), SECOND, GOOD)
    assert three.startswith("good is significantly better than second on mrr: 1.000 against 0.500.")
    assert three.endswith(f"No verdict on web: {NOTHING}.")
