"""A drop that was planted is called real, and what is about it noise."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError
from karat.experiments.store import (
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    RunStatus,
    SqlStore,
    StoredQueryResult,
)
from karat.extensions.analyze.trend import Past, trend_of, trends
from karat.model import Answer, Dataset, Hit, Query, Target
from karat.model.spec import Spec
from karat.scoring.metrics import parse
from karat.scoring.settings import Confidence, Scoring

START = datetime(2026, 1, 1, tzinfo=UTC)
LEAD = parse("ndcg@10")
SURE = Confidence(draws=999)


def past(levels: Sequence[float], *, queries: int = 60, noise: float = 0.05) -> list[Past]:
    """Return a run a day, each about its level, on queries that differ much."""
    rng = np.random.default_rng(5)
    ease = rng.uniform(-0.3, 0.3, queries)
    return [
        Past(
            f"r{day}",
            START + timedelta(days=day),
            np.clip(level + ease + rng.normal(0, noise, queries), 0, 1).tolist(),
        )
        for day, level in enumerate(levels)
    ]


def verdicts(levels: Sequence[float]) -> list[str]:
    return [point.verdict for point in trend_of("bm25", past(levels), LEAD, SURE).points]


def test_a_planted_drop_is_real_and_the_rest_is_noise() -> None:
    assert verdicts([0.6, 0.6, 0.6, 0.5, 0.5, 0.5]) == [
        *("first", "noise", "noise", "real", "noise", "noise")
    ]


def test_nothing_is_made_of_noise() -> None:
    assert verdicts([0.6] * 12) == ["first"] + ["noise"] * 11


def test_the_same_run_over_and_over_is_no_change() -> None:
    # (0.1 + 0.1 + 0.1) / 3 is not 0.1, and misses it in the same direction on every query.
    same = [Past(f"r{day}", START + timedelta(days=day), [0.1] * 20) for day in range(8)]
    points = trend_of("bm25", same, LEAD, SURE).points
    assert [point.verdict for point in points] == ["first"] + ["unchanged"] * 7
    assert {point.change for point in points} == {None, 0.0}


def test_variants_of_one_case_are_one_piece_of_evidence() -> None:
    runs = [Past(str(n), START, [score] * 6) for n, score in enumerate((0.2, 0.4))]
    alone = trend_of("bm25", runs, LEAD, SURE).points[1]
    together = trend_of("bm25", runs, LEAD, SURE, clusters=["a"] * 3 + ["b"] * 3).points[1]
    assert (alone.p, together.p) == (2 / 2**6, 2 / 2**2)


def test_a_slow_drift_is_noticed() -> None:
    steps = [0.6 - 0.008 * day for day in range(12)]
    assert "real" in verdicts(steps)[2:]


def test_the_change_is_from_the_level_before() -> None:
    runs = [Past(str(n), START, scores) for n, scores in enumerate(([0.0, 0.4], [0.2, 0.2]))]
    first, second = trend_of("bm25", runs, LEAD, SURE).points
    assert (first.mean, first.change, first.p) == (0.2, None, None)
    assert second.change == pytest.approx(0.0)
    assert second.p == 1.0


def test_runs_come_in_the_order_of_time() -> None:
    runs = past([0.6, 0.3])
    assert [point.run for point in trend_of("a", runs[::-1], LEAD, SURE).points] == ["r0", "r1"]


@pytest.mark.usefixtures("other_averages")
def test_a_measure_that_is_no_mean_is_refused() -> None:
    with pytest.raises(InputError, match="not a mean over queries"):
        trend_of("a", past([0.6]), parse("geometric"), SURE)


GOLD = Dataset.of([Query(f"q{n}", "text", (Target("a.py"),)) for n in range(12)], name="small")


def store_experiment(
    store: SqlStore, version: str, counts: Mapping[str, int], *, gold: Dataset = GOLD
) -> str:
    """Keep an experiment in which each run finds the target of its first queries."""
    runs = tuple(RunDefinition(label, Spec("engine", "bm25")) for label in counts)
    plan = ExperimentDefinition("nightly", ExperimentKind.EVALUATE, gold, runs, version=version)
    experiment = store.experiment(plan)
    for position, count in enumerate(counts.values(), 1):
        run = f"{experiment}.{position}"
        store.claim(run)
        answers = (
            Answer(query, (Hit("a.py" if row < count else "x.py"),))
            for row, query in enumerate(gold.query_ids)
        )
        store.add_many(StoredQueryResult(run, answer) for answer in answers)
        store.finish(run, RunStatus.COMPLETED)
    return experiment


def test_experiments_on_one_gold_set_make_a_trend(tmp_path: Path) -> None:
    times = (START + timedelta(hours=hour) for hour in range(10_000))
    with SqlStore(tmp_path / "k.db", clock=lambda: next(times)) as store:
        store_experiment(store, "1", {"bm25": 12, "dense": 6})
        store_experiment(store, "2", {"bm25": 12, "dense": 6, "other": 3})
        store_experiment(store, "3", {"dense": 6}, gold=Dataset.of(list(GOLD.queries())[:9]))
        last = store_experiment(store, "4", {"bm25": 2, "dense": 7})
        both = trends(store, store.show(last), scoring=Scoring(("hit@5", "mrr")), confidence=SURE)
        assert [(trend.label, trend.measure) for trend in both] == [
            *(("bm25", "hit@5"), ("dense", "hit@5"))
        ]
        bm25, dense = both
        assert [point.mean for point in bm25.points] == pytest.approx([1.0, 1.0, 1 / 6])
        assert [point.verdict for point in bm25.points] == ["first", "unchanged", "real"]
        assert [point.verdict for point in dense.points] == ["first", "unchanged", "noise"]
        assert bm25.points[-1].run == f"{last}.1"


def test_without_a_completed_run_there_is_no_trend(tmp_path: Path) -> None:
    with SqlStore(tmp_path / "k.db") as store:
        plan = ExperimentDefinition(
            "new", ExperimentKind.EVALUATE, GOLD, (RunDefinition("a", Spec("engine", "bm25")),)
        )
        experiment = store.show(store.experiment(plan))
        with pytest.raises(InputError, match="no completed run"):
            trends(store, experiment)
