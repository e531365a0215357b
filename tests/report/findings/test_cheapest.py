"""The cheapest run that is not significantly worse than the best one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from karat.model import Dataset, Query, Run, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.cheapest import RECOMMENDED
from karat.report.findings.contenders import Advice
from karat.report.findings.recommend import recommendations

Make = Callable[..., Findings]
MakeRun = Callable[..., RunResult]

QUERIES = [f"q{number}" for number in range(12)]
GOLD = Dataset.of([Query(query, "", (Target("good.py"),)) for query in QUERIES], name="gold")
FOUND: tuple[str, ...] = ("good.py",)
LOST = ("x.py", "y.py", "good.py")


@pytest.fixture
def advice(make: Make, run: MakeRun) -> Callable[..., Advice]:
    """Return what is recommended of runs: those in *losers* lose every query."""

    def advised(
        times: Mapping[str, float | None],
        *,
        losers: tuple[str, ...] = (),
        metadata: Mapping[str, Mapping[str, Any]] | None = None,
        spent: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Advice:
        runs = []
        for number, (name, ms) in enumerate(times.items()):
            paths: dict[str, tuple[str, ...]] = dict.fromkeys(
                QUERIES, LOST if name in losers else FOUND
            )
            # One query differs, so that no two runs are the same.
            paths[QUERIES[number]] = LOST if name in losers else ("x.py", "good.py")
            measured = run(name, paths, None if ms is None else dict.fromkeys(QUERIES, ms))
            answers = [
                answer._replace(extra={"spent": (spent or {}).get(name, {})})
                for answer in measured.run.answers()
            ]
            about = (metadata or {}).get(name, {})
            runs.append(replace(measured, run=Run.of(answers, name=name, metadata=about)))
        chosen = recommendations(make(runs, gold=GOLD, measures=("mrr@10",), draws=999))[0]
        assert chosen.purpose == RECOMMENDED
        return chosen

    return advised


def test_the_cheapest_of_equals(advice: Callable[..., Advice]) -> None:
    chosen = advice({"slow": 40.0, "fast": 10.0, "bad": 3.0}, losers=("bad",))
    assert chosen.run == "fast"
    assert chosen.why == (
        "cheapest of 2 that are not significantly worse than the best: p50 10 ms per query"
    )
    assert chosen.certainty == "mrr@10 0.958, slow 0.958."


def test_ties_go_to_the_baseline(advice: Callable[..., Advice]) -> None:
    # A tenth is within what two measurements of one engine differ by.
    assert advice({"here": 10.5, "other": 10.0}).run == "here"
    assert advice({"here": 12.0, "other": 10.0}).run == "other"
    # Nobody waits for 2 ms.
    assert advice({"here": 1.9, "other": 0.1}).run == "here"
    chosen = advice({"here": None, "other": None})
    assert chosen.run == "here"
    assert chosen.why == "baseline of 2 that are not significantly worse; costs unknown"
    equal = advice({"here": 10.0, "other": 10.0})
    assert equal.why == "baseline; no run that is as good is cheaper"


def test_a_baseline_that_is_worse_is_not_taken(advice: Callable[..., Advice]) -> None:
    chosen = advice({"here": 1.0, "better": 90.0}, losers=("here",))
    assert chosen.run == "better"
    assert chosen.why == "every other run is significantly worse on mrr@10"


@pytest.fixture
def few(make: Make, run: MakeRun) -> Callable[..., tuple[Advice, ...]]:
    """Return the advice on two runs that differ on five queries, too few for a test."""

    def advised(
        names: tuple[str, str], times: tuple[float | None, ...], *, loser: str
    ) -> tuple[Advice, ...]:
        runs = []
        for name, ms in zip(names, times, strict=True):
            paths = dict.fromkeys(QUERIES, FOUND)
            if name == loser:
                paths |= dict.fromkeys(QUERIES[:5], LOST)
            runs.append(run(name, paths, None if ms is None else dict.fromkeys(QUERIES, ms)))
        return recommendations(make(runs, gold=GOLD, measures=("mrr@10",), draws=99))

    return advised


@pytest.mark.parametrize(
    ("times", "chosen"),
    [
        ((3.0, 50.0), "here"),
        ((3.0, 3.1), "here"),
        ((None, None), "here"),
        ((50.0, 3.0), None),
    ],
)
def test_the_baseline_stays_where_nothing_is_better_or_cheaper(
    few: Callable[..., tuple[Advice, ...]], times: tuple[float | None, ...], chosen: str | None
) -> None:
    advice = {each.purpose: each for each in few(("here", "other"), times, loser="other")}
    recommended = advice.get(RECOMMENDED)
    assert (recommended and recommended.run) == chosen
    if recommended:
        assert recommended.why == "baseline; no run has a better mean, and none is cheaper"
        assert recommended.certainty == "mrr@10 1.000."


@pytest.mark.parametrize("times", [(3.0, 50.0), (3.0, 3.0), (50.0, 3.0), (None, None)])
def test_a_baseline_that_may_be_worse_is_not_recommended(
    few: Callable[..., tuple[Advice, ...]], times: tuple[float | None, ...]
) -> None:
    advice = few(("here", "other"), times, loser="here")
    assert RECOMMENDED not in {each.purpose for each in advice}


def test_queries_of_few_clusters_are_few(make: Make, run: MakeRun) -> None:
    gold = replace(GOLD, tags={"topic": tuple(f"t{row // 3}" for row in range(len(QUERIES)))})
    # Eight queries differ, but they are of three topics, which no test can tell from chance.
    paths = dict.fromkeys(QUERIES, FOUND)
    runs = [
        run("here", paths | dict.fromkeys(QUERIES[:8], LOST), dict.fromkeys(QUERIES, 3.0)),
        run("other", paths, dict.fromkeys(QUERIES, 3.0)),
    ]
    result = make(runs, gold=gold, measures=("mrr@10",), cluster="topic")
    assert RECOMMENDED not in {each.purpose for each in recommendations(result)}


def test_a_small_loss_on_few_queries_does_no_harm(make: Make, run: MakeRun) -> None:
    many = [f"q{number}" for number in range(200)]
    gold = Dataset.of([Query(query, "", (Target("good.py"),)) for query in many], name="gold")
    # Five queries fall to rank 3: 5 * 2/3 / 200 is a loss of 0.017; six lose 0.020 and are tested.
    runs = [
        run("good", dict.fromkeys(many, FOUND), dict.fromkeys(many, 50.0)),
        run(
            "near",
            dict.fromkeys(many, FOUND) | dict.fromkeys(many[:5], LOST),
            dict.fromkeys(many, 3.0),
        ),
    ]
    advice = recommendations(make(runs, gold=gold, measures=("mrr@10",), draws=99))[0]
    assert (advice.purpose, advice.run) == (RECOMMENDED, "near")
    assert "(-0.017)" in advice.why


def test_money_comes_before_time(advice: Callable[..., Advice]) -> None:
    times = {"here": 10.0, "cheap": 50.0}
    spent = {"here": {"cost": 0.02}, "cheap": {"cost": 0.01}}
    chosen = advice(times, spent=spent)
    assert (chosen.run, chosen.why.rpartition(": ")[2]) == ("cheap", "costs 0.0100 per query")
    # Where one run reports none, nobody knows which costs less.
    assert advice(times, spent={"cheap": {"cost": 0.01}}).run == "here"


def test_without_latencies_fewer_models_are_cheaper(advice: Callable[..., Advice]) -> None:
    def engine(name: str, **options: object) -> dict[str, Any]:
        return {"engine": {"name": name, "options": options}}

    reranked = engine("rerank", over={"engine": "hybrid"})
    times = {"here": None, "other": None}
    simple = {"here": reranked, "other": engine("bm25")}
    assert advice(times, metadata=simple).why.endswith(": needs no model")
    assert advice(times, metadata=simple).run == "other"
    # Of an engine from elsewhere nothing is known.
    assert advice(times, metadata={"here": reranked, "other": engine("http")}).run == "here"
    assert advice(times, metadata={"here": {"k": 20}, "other": {"k": 10}}).run == "other"


def test_nothing_is_recommended_where_nothing_was_compared(make: Make, run: MakeRun) -> None:
    alone = make([run("a", {"q1": ("a.py",)})])
    assert recommendations(alone) == ()
