"""Results in the shapes of other benchmarks."""

from dataclasses import replace

import pytest

from karat.app.schemas import RunExport, agent_results, akashic_report, octocode_results
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import LatencySample, RunResult, Timings
from karat.scoring.settings import Confidence, Scoring

GOLD = Dataset.of(
    [
        Query("a", "where is a", (Target("a.py"), Target("b.py")), {"category": "code"}),
        Query("b", "where is b", (Target("b.py"),), {"category": "code"}),
        Query("c", "where is c", (Target("c.md"),), {"category": "docs"}),
    ],
    name="gold",
)
RUN = Run.of(
    [
        Answer("a", (Hit("x.py", 3.0), Hit("a.py", 2.0), Hit("a.py", 1.0))),
        Answer("b", (Hit("b.py", 1.0),)),
        Answer("c", outcome=Outcome.TIMEOUT),
    ],
    name="bm25",
    metadata={"options": {"top_k": 10}, "engine": {"name": "bm25", "options": {}}},
)
SAMPLES = (LatencySample("a", 9_000_000, (2_000_000,)), LatencySample("b", 9_000_000, (4_000_000,)))
TIMINGS = Timings(SAMPLES, 0, 0, 0, warm_up=1, repetitions=2, alone=True)
JUDGED = RunExport(GOLD, RunResult(RUN, TIMINGS, "", "bm25"), "2026-01-30T12:00:00")


def test_akashic() -> None:
    report = akashic_report(JUDGED)
    assert report.config == {
        "name": "bm25",
        "top_k": 10,
        "engine": {"name": "bm25", "options": {}},
    }
    summary = report.summary
    # By hand: (1/2 + 1 + 0) / 3, and the recall of a is one target of two.
    assert (summary["total_queries"], summary["avg_mrr"]) == (3, 0.5)
    assert (summary["avg_recall_at_5"], summary["avg_latency_ms"]) == (0.5, 3.0)
    interval = summary["avg_mrr_ci"]
    assert isinstance(interval, list)
    assert interval[0] < 0.5 < interval[1]
    assert report.category_metrics["code"]["count"] == 2
    assert report.category_metrics["code"]["avg_mrr"] == 0.75
    first, *_, last = report.query_results
    assert (first.category, len(first.hits), first.expected_files) == ("code", 3, ["a.py", "b.py"])
    assert (first.metrics["mrr"], first.metrics["latency_ms"]) == (0.5, 2.0)
    assert (last.metrics["mrr"], list(last.hits)) == (0.0, [])


def test_agents() -> None:
    results = agent_results(JUDGED)
    assert [case.retrieved_files for case in results.results] == [["x.py", "a.py"], ["b.py"], []]
    assert [case.f1_score for case in results.results] == [0.5, 1.0, 0.0]
    assert [case.latency_ms for case in results.results] == [2.0, 4.0, None]
    assert [case.more["outcome"] for case in results.results] == ["answered", "answered", "timeout"]
    assert results.aggregate_metrics == {
        "mean_f1": 0.5,
        "median_f1": 0.5,
        "std_f1": 0.5,
        "p50_latency_ms": 3.0,
        # They need 10 and 100 latencies.
        "p90_latency_ms": None,
        "p99_latency_ms": None,
    }


def test_octocode() -> None:
    results = octocode_results(JUDGED)
    assert (results.queries, results.errors) == (3, 1)
    assert results.hit_at_5 == pytest.approx(2 / 3)
    assert results.mrr == 0.5


def test_a_lowest_grade_is_kept() -> None:
    strict = replace(JUDGED, scoring=Scoring(level=2.0), confidence=Confidence(draws=0))
    assert akashic_report(strict).summary["avg_mrr_ci"] is None
    assert octocode_results(strict).hit_at_5 == 0.0


def test_queries_that_belong_together_are_drawn_together() -> None:
    queries = [
        Query(f"{case}{n}", "", (Target("a.py"),), {"case": case})
        for case in "abcdefgh"
        for n in range(3)
    ]
    run = Run.of([Answer(query.id, (Hit("a.py"),)) for query in queries[:12]], name="half")
    alone, together = (
        akashic_report(
            RunExport(
                Dataset.of(queries, metadata=metadata), RunResult(run, None, "", "half"), "now"
            )
        ).summary
        for metadata in ({}, {"cluster": "case"})
    )
    assert alone["avg_mrr"] == together["avg_mrr"] == 0.5
    near, far = alone["avg_mrr_ci"], together["avg_mrr_ci"]
    assert isinstance(near, list)
    assert isinstance(far, list)
    assert far[0] < near[0] < near[1] < far[1]


def test_what_was_not_measured() -> None:
    untimed = replace(JUDGED, measured=replace(JUDGED.measured, timings=None))
    assert akashic_report(untimed).summary["avg_latency_ms"] is None
    assert agent_results(untimed).aggregate_metrics["p50_latency_ms"] is None
    unjudged = RunExport(Dataset.of([Query("a", "where is a")]), untimed.measured, "")
    assert agent_results(unjudged).aggregate_metrics["mean_f1"] is None
    alone = RunExport(Dataset.of(list(GOLD.queries())[1:2]), untimed.measured, "")
    assert agent_results(alone).aggregate_metrics["std_f1"] == 0.0
