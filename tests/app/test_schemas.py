"""Results of agents, as they are exported."""

from dataclasses import replace

from karat.app.schemas import RunExport, agent_results
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import LatencySample, RunResult, Timings

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


def test_what_was_not_measured() -> None:
    untimed = replace(JUDGED, measured=replace(JUDGED.measured, timings=None))
    assert agent_results(untimed).aggregate_metrics["p50_latency_ms"] is None
    unjudged = RunExport(Dataset.of([Query("a", "where is a")]), untimed.measured, "")
    assert agent_results(unjudged).aggregate_metrics["mean_f1"] is None
    alone = RunExport(Dataset.of(list(GOLD.queries())[1:2]), untimed.measured, "")
    assert agent_results(alone).aggregate_metrics["std_f1"] == 0.0
