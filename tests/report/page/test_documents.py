"""The documents of the page: the numbers of the findings."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from karat.errors import InputError, UnknownName
from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.recommend import headline
from karat.report.page.analysis import comparison, matrix, slices, two_sides
from karat.report.page.queries import Subject, drilldown, query_results, subject_of
from karat.report.page.results import definitions, details, results
from karat.scoring.loss_reasons import LOSS_REASONS, LossReason, LossReasonText
from karat.scoring.metrics import METRICS, Metric

Make = Callable[..., Findings]
MakeRun = Callable[..., RunResult]


@pytest.fixture(scope="module")
def subject(findings: Findings) -> Subject:
    return subject_of(findings)


def test_a_report_needs_no_pydantic() -> None:
    code = "import sys, karat.report.page.file; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pydantic", "fastapi", "starlette", "sqlalchemy"}


def test_the_runs_by_hand(subject: Subject) -> None:
    document = results(subject)
    old, new = document["runs"]
    assert [old["metrics_flat"]["mrr@10"], new["metrics_flat"]["mrr@10"]] == [0.375, 0.625]
    assert (old["answered"], old["errors"], new["errors"]) == (3, 1, 0)
    assert old["fates"] == {"found": 3, "too low": 1, "not returned": 0, "unanswered": 1}
    labels = {each["name"]: each["label"] for each in document["loss_reasons"]}
    assert (labels["too low"], labels["not returned"]) == ("ranked below k", "not retrieved")
    assert (old["latency"]["measured"], old["latency"]["p50"]) == (True, 10.0)
    assert document["summary"]["best_run"] == new["id"]
    # Four queries cannot tell the two apart, so that both are best.
    assert document["summary"]["best_runs"] == [new["id"], old["id"]]
    assert document["summary"]["headline"] == (
        "No significant difference between new and old on mrr@10 "
        "(+0.250 [-1.000, 1.000], p = 0.750)."
    )


def test_what_explains_them(subject: Subject) -> None:
    document = details(subject)
    assert [each["purpose"] for each in document["recommendations"]] == [
        *("Best quality", "Best recall", "Fastest", "Best balance")
    ]
    assert document["first_ranks"]["runs"] == {
        "run.1": [1, 1, 0, 0, 1, 1],
        "run.2": [2, 1, 0, 0, 0, 1],
    }
    assert document["pareto"]["mrr@10"] == ["run.1", "run.2"]
    assert [table["title"] for table in document["tables"]] == ["Latency"]
    assert {each["name"] for each in document["method"]} >= {"Gold set", "Intervals", "Matching"}


def test_one_query_by_hand(subject: Subject) -> None:
    document = drilldown(subject, "q3")
    (target,) = document["targets"]
    assert target["found_at"] == {"run.1": 13, "run.2": 1}
    assert target["lost"] == {"run.1": "ranked below k"}
    assert [len(run["hits"]) for run in document["runs"]] == [10, 1]
    assert (document["runs"][0]["retrieved"], document["runs"][0]["status"]) == (13, "scored")
    assert drilldown(subject, "q4")["runs"][0]["status"] == "error"
    assert [run["error"] for run in document["runs"]] == [None, None]
    with pytest.raises(UnknownName, match="no query 'q9'"):
        drilldown(subject, "q9")


def test_a_failed_query_has_the_text_of_its_error(findings: Findings) -> None:
    error = "old: exit code 1: ValueError: index missing\n  Traceback"
    old, new = findings.runs
    rows = zip(old.run.query_ids, old.run.outcomes, strict=True)
    extras = tuple({"error": error} if outcome else {} for _, outcome in rows)
    failed = replace(old, run=replace(old.run, extras=extras))
    subject = subject_of(replace(findings, runs=(failed, new)))
    assert [run["error"] for run in drilldown(subject, "q4")["runs"]] == [error, None]
    assert [run["error"] for run in drilldown(subject, "q3")["runs"]] == [None, None]


def test_a_page_of_queries(subject: Subject) -> None:
    document = query_results(subject, "run.2", page=2, per_page=3)
    assert (document["total"], [row["query_id"] for row in document["results"]]) == (4, ["q4"])
    with pytest.raises(UnknownName, match=r"no run run\.3"):
        query_results(subject, "run.3", page=1, per_page=3)


def test_scores_and_slices(subject: Subject) -> None:
    scores = matrix(subject, "mrr@10")
    assert scores["values"] == [[0.5, 1.0], [1.0, 0.5], [0.0, 1.0], [0.0, 0.0]]
    assert scores["tags"] == {"category": ["task", "task", "idea", "idea"]}
    by_kind = slices(subject, None, None)
    assert (by_kind["by"], by_kind["tags"]) == ("category", ["category"])
    # As many queries of each: by name.
    assert [each["value"] for each in by_kind["slices"]] == ["idea", "task"]
    assert by_kind["slices"][1]["means"] == {"run.1": 0.75, "run.2": 0.75}
    with pytest.raises(InputError, match="no query is tagged with 'colour'"):
        slices(subject, None, "colour")
    with pytest.raises(InputError, match="ndcg@3 was not computed; computed: mrr@10"):
        matrix(subject, "ndcg@3")


def test_any_run_can_be_the_baseline(subject: Subject) -> None:
    forth, back = (comparison(subject, run, "mrr@10") for run in ("run.1", "run.2"))
    assert forth["runs"][1]["difference"] == -back["runs"][1]["difference"] == 0.25
    assert (forth["runs"][1]["improved"], back["runs"][1]["regressed"]) == (2, 2)
    assert forth["headline"].startswith("No significant difference between new and old")


def test_a_pair_has_one_p_value_on_all_pages(make: Make, run: MakeRun) -> None:
    def good(name: str, share: int) -> RunResult:
        return run(name, {f"q{n}": ("a.py" if n < share else "x.py",) for n in range(30)})

    runs = [good("a", 10), good("b", 17), good("c", 19)]
    subject = subject_of(make(runs, gold=gold_of(30), measures=("hit@5", "mrr@10")))
    for metric in ("hit@5", "mrr@10"):
        document = comparison(subject, "run.1", metric)
        tested = subject.findings.contest.comparison
        pairs = [tested.difference("a", name, metric) for name in "bc"]
        assert [row["p_corrected"] for row in document["runs"][1:]] == [
            e.p_corrected for e in pairs
        ]
        assert "corrected for 3 comparisons" in document["verdict"]
        back = comparison(subject, "run.3", metric)["runs"][1]
        assert (back["name"], back["p_corrected"]) == ("a", pairs[1].p_corrected)
        forth = document["runs"][2]
        assert (back["low"], back["high"]) == (-forth["high"], -forth["low"])
        side = two_sides(subject, "run.3", subject, "run.1", metric)
        assert side["comparison"]["p_corrected"] == pairs[1].p_corrected
        assert side["left"]["mean"] == pytest.approx(19 / 30)
        same = two_sides(subject, "run.1", subject, "run.1", metric)
        assert (same["comparison"]["difference"], same["comparison"]["p"]) == (0.0, 1.0)
    standings = {row["run_id"]: row["p"] for row in details(subject)["standings"]}
    document = comparison(subject, "run.1", "hit@5")["runs"]
    assert {row["run_id"]: row["p_corrected"] for row in document} == standings


def test_a_run_has_a_star_if_no_other_run_is_better(make: Make, run: MakeRun) -> None:
    # `third` changes many queries against `first`, up and down, but only loses against `second`.
    second = {f"q{n}" for n in range(24)}
    first = {f"q{n}" for n in range(12)} | {f"q{n}" for n in range(24, 37)}
    third = second - {f"q{n}" for n in range(8)}

    def answers(name: str, good: set[str]) -> RunResult:
        return run(name, {f"q{n}": ("a.py" if f"q{n}" in good else "x.py",) for n in range(40)})

    runs = [answers("first", first), answers("second", second), answers("third", third)]
    findings = make(runs, gold=gold_of(40), measures=("hit@5",))
    comparison = findings.contest.comparison
    decided = [
        comparison.difference(*pair, "hit@5").is_significant
        for pair in (("first", "second"), ("first", "third"), ("second", "third"))
    ]
    assert decided == [False, False, True]
    assert results(subject_of(findings))["summary"]["best_runs"] == ["run.1", "run.2"]


def test_pairs_that_the_findings_have_not_tested_are_a_family(make: Make, run: MakeRun) -> None:
    runs = [run(f"r{n}", {"q1": ("a.py",) if n % 2 else ("x.py",)}) for n in range(13)]
    subject = subject_of(make(runs, draws=99))
    assert subject.findings.contest.comparison.pairs == "lead"
    for metric, family in (("mrr@10", 78), ("hit@5", 12)):
        document = comparison(subject, "run.2", metric)
        assert [row["run_id"] for row in document["runs"][:2]] == ["run.2", "run.1"]
        assert f"corrected for {family} comparisons" in document["verdict"]


def test_slices_of_more_queries_come_first(make: Make, run: MakeRun) -> None:
    kinds = ("few", "most", "most", "some", "most", "some")
    gold = Dataset.of(
        [Query(f"q{n}", "", (Target("a.py"),), {"kind": kind}) for n, kind in enumerate(kinds)]
    )
    findings = make([run("one", dict.fromkeys(gold.query_ids, ("a.py",)))], gold=gold)
    sliced = slices(subject_of(findings), None, "kind")["slices"]
    assert [(each["value"], each["queries"]) for each in sliced] == [
        ("most", 3),
        ("some", 2),
        ("few", 1),
    ]


def gold_of(size: int) -> Dataset:
    return Dataset.of([Query(f"q{n}", "", (Target("a.py"),)) for n in range(size)])


def test_the_headline_names_the_winner_or_those_that_tie(make: Make, run: MakeRun) -> None:
    gold = gold_of(30)

    def good(name: str, share: int) -> RunResult:
        return run(name, {f"q{n}": ("a.py" if n < share else "x.py",) for n in range(30)})

    def told(*runs: RunResult) -> str:
        return headline(make(runs, gold=gold, measures=("hit@5",)).contest.comparison)

    assert told(good("a", 10), good("b", 28)) == (
        "b is significantly better than a on hit@5: 0.933 against 0.333."
    )
    assert told(good("a", 10), good("b", 10)) == "a and b have the same hit@5 on every query."
    assert told(good("a", 5), good("b", 6), good("c", 29)) == (
        "c is significantly better than all 2 other runs on hit@5 (0.967)."
    )
    assert told(good("a", 5), good("b", 28), good("c", 29)) == (
        "c has the highest hit@5 (0.967), but not significantly higher than b."
    )
    assert told(good("a", 5), good("b", 5), good("c", 5)) == (
        "All 3 runs have the same hit@5 on every query (0.167)."
    )
    assert told(good("a", 29), good("b", 5), good("c", 29)) == (
        "a and c have the highest hit@5 (0.967)."
    )
    assert told(good("a", 5)) == ""
    three = make([good("a", 5), good("b", 28), good("c", 29)], gold=gold, measures=("hit@5",))
    assert comparison(subject_of(three), "run.1", "hit@5")["headline"] == (
        "b and c are significantly better than a on hit@5."
    )
    assert comparison(subject_of(three), "run.3", "hit@5")["headline"] == (
        "No run is significantly better than c on hit@5."
    )


def test_a_new_metric_and_a_new_loss_reason_are_defined_without_further_work(
    monkeypatch: pytest.MonkeyPatch, findings: Findings
) -> None:
    reason = LossReasonText("lost", "lost in space", "lost in space", "it drifted off", "f2")
    monkeypatch.setitem(LOSS_REASONS, LossReason.FUSION, reason)
    lost = replace(findings, losses={(0, 2, 0): LossReason.FUSION})
    document = results(subject_of(lost))
    described = {
        "name": "lost",
        "label": "lost in space",
        "definition": "it drifted off",
        "shade": "f2",
    }
    assert described in document["loss_reasons"]
    assert document["runs"][0]["fates"]["lost"] == 1
    assert described in definitions()["loss_reasons"]
    names = [each["name"] for each in definitions()["metrics"]]
    assert names == list(METRICS)
    metric = METRICS.get("mrr")
    assert isinstance(metric, Metric)
    (defined,) = (each for each in definitions()["metrics"] if each["name"] == "mrr")
    assert (defined["definition"], defined["formula"]) == (metric.definition, metric.formula)


def test_runs_with_the_same_hits_name_each_other(make: Make, run: MakeRun) -> None:
    answers = {"q1": ("a.py", "b.py")}
    runs = results(
        subject_of(make([run("a", answers), run("b", answers), run("c", {"q1": ("b.py",)})]))
    )["runs"]
    assert [each["identical_to"] for each in runs] == [["run.2"], ["run.1"], []]


def test_a_broken_run_shows_its_reason_in_the_place_of_its_scores(make: Make, run: MakeRun) -> None:
    gold = gold_of(30)
    good = run("good", {f"q{n}": ("a.py",) for n in range(30)})
    second = run("second", {f"q{n}": ("x.py", "a.py") for n in range(30)})
    web = run("web", {f"q{n}": () for n in range(30)})
    reason = "No verdict on web: returned no hits for 30 of 30 queries."
    subject = subject_of(make([web, second, good], gold=gold, measures=("mrr@10",)))
    document = results(subject)
    broken, *others = document["runs"]
    assert broken["error_message"].startswith("web: returned no hits for 30 of 30 queries")
    assert (broken["warnings"], broken["metrics_flat"]["mrr@10"]) == ([], None)
    assert [each["error_message"] for each in others] == [None, None]
    summary = document["summary"]
    assert summary["best_run"] == "run.3"
    assert summary["headline"] == (
        f"good is significantly better than second on mrr@10: 1.000 against 0.500. {reason}"
    )
    assert summary["comparison"].endswith(reason)
    against = comparison(subject, "run.1", "mrr@10")
    assert against["headline"].endswith(reason)
    assert "better than web" not in against["verdict"]
    pair = subject_of(make([web, good], gold=gold, measures=("mrr@10",)))
    assert comparison(pair, "run.1", "mrr@10")["headline"] == reason
    assert comparison(pair, "run.1", "mrr@10")["verdict"] == reason
