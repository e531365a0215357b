"""Scores that measure wrong names are marked, in Python too."""

from dataclasses import replace

import pytest

import karat
from karat.app.compare import compare
from karat.app.evaluate import score_runs
from karat.app.report import origin, report
from karat.app.score import score
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import RunResult
from karat.report.findings.leaderboard import standings
from karat.scoring.compare import compare_scored_runs
from karat.scoring.score import with_dropped
from karat.scoring.settings import Confidence, Scoring

GOLD = {f"q{n}": {f"d{n}": 1.0} for n in range(12)}
GOOD = {query: dict.fromkeys(grades, 1.0) for query, grades in GOLD.items()}
OTHER = {query: {f"x-{each}": 1.0 for each in grades} for query, grades in GOLD.items()}


def test_python_has_the_warning_and_the_repair() -> None:
    evaluation = karat.evaluate(GOLD, OTHER, ["mrr"], confidence=None)
    assert evaluation["mrr"] == 0.0
    assert evaluation.broken
    assert evaluation.warnings == (
        "no hit of run1 is a target: the run has 'x-d0', the gold set 'd0'; "
        "add strip_prefix=['x-']",
    )
    absolute = {
        query: {f"/abs/docs/{each}": 1.0 for each in grades} for query, grades in GOLD.items()
    }
    (warning,) = karat.evaluate(GOLD, absolute, ["mrr"], match="exact", confidence=None).warnings
    assert warning.endswith("; add root='/abs/docs', or corpus='/abs/docs' to karat.run")
    mended = karat.evaluate(GOLD, OTHER, ["mrr"], confidence=None, strip_prefix=["x-"])
    assert (mended["mrr"], mended.warnings) == (1.0, ())
    contest = karat.compare(GOLD, {"good": GOOD, "other": OTHER}, ["mrr"], draws=99)
    assert contest.warnings[0].startswith("no hit of other is a target")
    assert contest.warnings[0].endswith("; add strip_prefix=['x-']")
    assert contest.comparison.mean("other", "mrr").mean is None
    assert karat.compare(GOLD, [GOOD, OTHER], ["mrr"], strip_prefix=["x-"]).warnings == ()


def test_a_search_of_the_corpus_itself_is_bad_not_misnamed() -> None:
    gold = Dataset.of([Query(f"q{n}", "", (Target(f"{n}.py"),)) for n in range(12)])
    searched = {"snapshot": "corpus"}
    nothing = [Answer(f"q{n}", (Hit("other.py", 1.0),)) for n in range(12)]
    assert score(gold, Run.of(nothing), confidence=None).warnings
    assert not score(gold, Run.of(nothing, metadata=searched), confidence=None).warnings
    alike = [Answer(f"q{n}", (Hit(f"{n % 5}/{n}.py"),)) for n in range(12)]
    assert score(gold, Run.of(alike), confidence=None).broken
    assert not score(gold, Run.of(alike, metadata=searched), confidence=None).warnings


def test_a_gold_set_with_other_names_than_the_corpus_is_a_warning() -> None:
    gold = Dataset.of([Query(f"q{n}", "", (Target(f"repo/{n}.py"),)) for n in range(12)])
    answers = [Answer(f"q{n}", (Hit(f"{n}.py", 1.0),)) for n in range(12)]
    evaluation = score(gold, Run.of(answers, metadata={"snapshot": "corpus"}), confidence=None)
    assert not evaluation.broken
    assert evaluation.warnings[0].endswith("'0.py', the gold set 'repo/0.py'; add --root repo")


def test_an_uncertain_mismatch_is_a_warning_and_the_comparison_stands() -> None:
    poor = {query: {f"e{query}": 1.0} for query in GOLD}
    contest = karat.compare(GOLD, {"good": GOOD, "poor": poor}, ["mrr"], draws=99)
    assert "no hit of poor is a target; the names may not match" in contest.warnings[0]
    assert contest.comparison.mean("poor", "mrr").mean == 0.0
    assert "No verdict" not in contest.verdict


@pytest.mark.parametrize(
    ("runs", "tests"),
    [
        ({"good": GOOD, "other": OTHER}, 0),
        ({"other": OTHER, "good": GOOD}, 0),
        ({"good": GOOD, "other": OTHER, "same": GOOD}, 2),
    ],
)
def test_a_broken_run_has_no_wilcoxon_test(
    runs: dict[str, dict[str, dict[str, float]]], tests: int
) -> None:
    contest = compare(
        GOLD,
        list(runs.values()),
        names=list(runs),
        scoring=Scoring(("mrr",)),
        confidence=Confidence(draws=99, wilcoxon=True),
    )
    assert len(contest.further_tests) == tests
    assert not any("other" in line for line in contest.further_tests)


def measured(name: str, hits: dict[int, str], invalid: dict[str, int]) -> RunResult:
    answers = [Answer(f"q{n}", (Hit(hits[n], 1.0),) if n in hits else ()) for n in range(4)]
    answers.append(Answer("q4", (), Outcome.ERROR))
    return RunResult(Run.of(answers, name=name), None, "", name, {"invalid": invalid})


LINES = Dataset.of([Query(f"q{n}", "", (Target(f"{n}.py"),)) for n in range(5)])


@pytest.mark.parametrize(
    ("hits", "invalid", "reason"),
    [
        (
            {},
            {"not in the corpus": 8},
            "4 of 4 answered queries have no hit in the searched files, 8 hits dropped",
        ),
        (
            {0: "0.py"},
            {"outside the root": 5},
            "3 of 4 answered queries have no hit in the searched files, 5 hits dropped",
        ),
        ({0: "0.py", 1: "1.py"}, {"not in the corpus": 5}, ""),
        ({}, {"duplicate": 8}, "returned no hits for 4 of 4 queries"),
        ({}, {}, "returned no hits for 4 of 4 queries"),
    ],
)
def test_hits_that_are_all_dropped_are_told_of(
    hits: dict[int, str], invalid: dict[str, int], reason: str
) -> None:
    run = measured("svc", hits, invalid)
    evaluation = with_dropped(score(LINES, run.run, confidence=None), run, ())
    assert evaluation.reason == reason
    assert evaluation.broken is bool(reason)
    if reason:
        assert evaluation.warnings[0].startswith(f"svc: {reason}")


def partly_removed(
    accepted: int, removed: int, snapshot: str, *, of: int = 4, versions: int = 4
) -> RunResult:
    """Return a run of 4 queries; *of* them have lost *removed* hits, others have 10 hits."""
    answers = []
    for n in range(4):
        extra: dict[str, object] = {"revision": f"commit{n % versions}"}
        if n < of:
            extra |= {"invalid": {"not in the corpus": removed}, "accepted": accepted}
        hits = tuple(Hit(f"{rank}.py", -rank) for rank in range(accepted if n < of else 10))
        answers.append(Answer(f"q{n}", hits, extra=extra))
    about = {"snapshot": snapshot, "k": 100, "kind": "code", "candidates": "production"}
    run = Run.of(answers, name="svc", metadata=about)
    return RunResult(run, None, "", "svc", {"invalid": {"not in the corpus": removed * of}})


CARRIED = (
    "; if the engine has one fixed index, move the gold set to its version: "
    "karat carry GOLDSET --to HEAD -o gold-head.json"
)
ALL_FILES = "; to search all files, add --kind all --candidates all"


@pytest.mark.parametrize(
    ("run", "warning"),
    [
        (
            partly_removed(6, 4, "parent"),
            f"svc: 40% of its hits are not in the versions that are searched{CARRIED}",
        ),
        (
            partly_removed(5, 5, "base", versions=1),
            f"svc: 50% of its hits are not in the versions that are searched{CARRIED}",
        ),
        (
            partly_removed(5, 5, "carried", versions=1),
            "svc: 50% of its hits are not in the searched files; paths must be relative to the "
            "searched folder (strip_prefix of the engine); name the right corpus",
        ),
        (
            partly_removed(8, 2, "carried", versions=1, of=3),
            "svc: after removing files that are not searched, it has fewer than 10 hits in 3 of 4 "
            f"queries; let it return more hits{ALL_FILES}",
        ),
        (
            partly_removed(8, 2, "parent"),
            "svc: after removing files that are not searched, it has fewer than 10 hits in 4 of 4 "
            f"queries; let it return more hits{CARRIED}",
        ),
        # It has enough hits left, or would have had too few in any case.
        (partly_removed(10, 2, "carried", versions=1), ""),
        (partly_removed(7, 2, "carried", versions=1), ""),
    ],
)
def test_many_hits_outside_the_searched_files_are_a_warning(run: RunResult, warning: str) -> None:
    gold = Dataset.of(LINES.queries())
    (evaluation,) = score_runs(gold, [run], Scoring(("ndcg@10", "mrr")))
    assert evaluation.notes.removed == warning
    assert evaluation.warnings == ((warning,) if warning else ())
    assert not evaluation.broken


def hidden(accepted: int, removed: int) -> RunResult:
    """Return a run of 4 queries whose *removed* hits are on files that Karat leaves out."""
    run = partly_removed(accepted, removed, "carried", versions=1)
    counts = {"not searched": removed}
    answers = [
        answer._replace(extra={**answer.extra, "invalid": counts}) for answer in run.run.answers()
    ]
    same = Run.of(answers, name="svc", metadata=run.run.metadata)
    return replace(run, run=same, notes={"invalid": {"not searched": removed * 4}})


def test_hits_on_files_that_karat_hides_have_the_right_paths() -> None:
    (evaluation,) = score_runs(LINES, [hidden(5, 5)], Scoring(("ndcg@10",)))
    assert evaluation.warnings == (
        f"svc: 50% of its hits are not in the searched files{ALL_FILES}",
    )
    (evaluation,) = score_runs(LINES, [hidden(1, 9)], Scoring(("ndcg@10",)))
    assert not evaluation.broken
    (evaluation,) = score_runs(LINES, [hidden(0, 9)], Scoring(("ndcg@10",)))
    assert evaluation.reason.startswith("4 of 4 answered queries have no hit in the searched files")
    assert evaluation.warnings[0].endswith(ALL_FILES)


def test_most_hits_outside_the_searched_versions_are_no_result() -> None:
    (evaluation,) = score_runs(LINES, [partly_removed(1, 9, "parent")], Scoring(("ndcg@10",)))
    assert evaluation.reason == "90% of its hits are not in the versions that are searched"
    assert evaluation.warnings == (f"svc: {evaluation.reason}{CARRIED}",)


def test_a_strip_prefix_that_was_given_is_not_advised_again() -> None:
    run = partly_removed(5, 5, "carried", versions=1)
    engine = {"name": "http", "options": {"strip_prefix": "repo/"}}
    about = {**run.run.metadata, "engine": engine}
    given = replace(run, run=Run.of(run.run.answers(), name="svc", metadata=about))
    (evaluation,) = score_runs(LINES, [given], Scoring(("ndcg@10",)))
    assert "strip_prefix of the engine is 'repo/'" in evaluation.warnings[0]
    assert "(strip_prefix of the engine)" not in evaluation.warnings[0]


def test_a_report_shows_the_warning_of_the_measures_not_of_its_curves() -> None:
    findings = report(
        Dataset.of(LINES.queries()),
        [partly_removed(8, 2, "carried", versions=1)],
        scoring=Scoring(("ndcg@5",)),
        confidence=Confidence(draws=99),
        origin=origin(LINES, ["a"], made_at="", version=""),
    )
    assert findings.contest.warnings == ()


def test_a_search_of_old_versions_without_any_hit_names_karat_carry() -> None:
    run = partly_removed(0, 9, "parent")
    (evaluation,) = score_runs(LINES, [run], Scoring(("mrr",)))
    assert evaluation.broken
    assert evaluation.warnings[0].endswith(CARRIED)


def test_a_run_without_its_hits_wins_and_loses_nothing() -> None:
    good = measured("good", {n: f"{n}.py" for n in range(4)}, {})
    lost = measured("lost", {}, {"not in the corpus": 9})
    scoring = Scoring(("mrr",))
    contest = compare_scored_runs(
        LINES,
        score_runs(LINES, [good, lost], scoring),
        measures=scoring.parsed(LINES),
        confidence=Confidence(draws=99),
    )
    assert contest.verdict.startswith("No verdict")
    findings = report(
        LINES,
        [good, lost],
        scoring=Scoring(("mrr",)),
        confidence=Confidence(draws=99),
        origin=origin(LINES, ["", ""], made_at="", version=""),
    )
    assert [(each.name, each.better_than) for each in standings(findings)] == [
        ("good", ""),
        ("lost", ""),
    ]


def test_evidence_is_no_target_of_a_report() -> None:
    gold = Dataset.of([Query("q", "", (Target("a.py"), Target("", symbol="run")))], match="akashic")
    run = RunResult(Run.of([Answer("q", (Hit("b.py"),))], name="r"), None, "", "r", {})
    findings = report(
        gold,
        [run],
        scoring=Scoring(("mrr",)),
        confidence=Confidence(draws=99),
        origin=origin(gold, [""], made_at="", version=""),
    )
    assert findings.relevant(0) == (True, False)
