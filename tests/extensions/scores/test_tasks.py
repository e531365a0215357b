"""The macro mean of several tasks, and their table."""

from math import nan, sqrt

import numpy as np
import pytest

from karat.app.score_files import compare_scores
from karat.extensions.scores.readers import ReadScores
from karat.extensions.scores.record import ScoreMeasure, ScoreRow, ScoreSet
from karat.extensions.scores.source import scored_files
from karat.extensions.scores.task_table import task_table
from karat.extensions.scores.tasks import (
    LEAST_TASKS,
    ByTask,
    macro_comparison,
    macro_mean,
    queries_by_task,
)
from karat.model.evaluation import ComparisonResult
from karat.scoring.settings import Confidence


def test_macro_mean_worked_by_hand() -> None:
    # Means 3/4 and 1/2; variances of them (1/4) / 4 and (1/2) / 2.
    known = macro_mean([[1, 0, 1, 1], [0, 1, nan]], 0.95)
    assert known is not None
    assert known.mean == 0.625
    parts = (1 / 16, 1 / 4)
    error = sqrt(sum(parts)) / 2
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 1)
    stats = pytest.importorskip("scipy.stats")
    reach = stats.t.ppf(0.975, freedom) * error
    assert known.interval.low == pytest.approx(0.625 - reach)
    assert known.interval.high == pytest.approx(0.625 + reach)
    assert known.p == pytest.approx(2 * stats.t.sf(0.625 / error, freedom))


def test_two_tasks_are_the_test_of_welch() -> None:
    # The macro mean of one sample and of minus the other is half their difference.
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    one, other = rng.normal(0.3, 1, 12), rng.normal(0, 3, 30)
    known = macro_mean([one.tolist(), (-other).tolist()], 0.95)
    assert known is not None
    assert known.p == pytest.approx(stats.ttest_ind(one, other, equal_var=False).pvalue)


def test_no_interval_where_there_is_none() -> None:
    for tasks in ([[1.0], [0.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]]):
        known = macro_mean(tasks, 0.95)
        assert known is not None
        assert (known.interval.low, known.p) == (None, None)
    assert macro_mean([[0.0, 1.0], [nan]], 0.95) is None


def test_sampled_tasks_are_the_t_test_of_their_means() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    tasks = [rng.normal(centre, 1, 5 + size).tolist() for size, centre in enumerate(range(8))]
    known = macro_mean(tasks, 0.9, sampled=True)
    assert known is not None
    means = [float(np.mean(scores)) for scores in tasks]
    test = stats.ttest_1samp(means, 0)
    assert known.p == pytest.approx(test.pvalue)
    low, high = test.confidence_interval(0.9)
    assert (known.interval.low, known.interval.high) == pytest.approx((low, high))
    alone = macro_mean(tasks[:1], 0.9, sampled=True)
    assert alone is not None
    assert alone.interval.low is None


def test_dependent_queries_count_as_one() -> None:
    # Each query three times, as variants of one: as certain as each of them once.
    once = [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.5]]
    thrice = [scores * 3 for scores in once]
    labels = [[str(n) for n in range(len(scores))] * 3 for scores in once]
    alone, variants = macro_mean(once, 0.95), macro_mean(thrice, 0.95, clusters=labels)
    assert alone is not None
    assert variants is not None
    assert variants.mean == pytest.approx(alone.mean)
    assert variants.interval.low == pytest.approx(alone.interval.low)
    assert variants.p == pytest.approx(alone.p)
    of_one = macro_mean([[0.0, 1.0], [0.0, 1.0]], 0.95, clusters=[["a", "a"], ["b", "c"]])
    assert of_one is not None
    assert of_one.interval.low is None


def contest_of(columns: dict[str, list[float]], tasks: int) -> tuple[ComparisonResult, ByTask]:
    """Return systems compared by their scores, on equally many queries of each of *tasks*."""
    size = len(next(iter(columns.values()))) // tasks
    rows = [
        ScoreRow(f"q{n}", name, {"f1": score}, tags={"task": f"t{n // size}"})
        for name, column in columns.items()
        for n, score in enumerate(column)
    ]
    scores = ScoreSet.of(rows, task="task")
    scored = scored_files(ReadScores(scores, ""))
    contest = compare_scores(scored, confidence=Confidence(draws=199)).contest
    return contest, queries_by_task(scores)


def test_wins_and_ranks_by_task() -> None:
    rng = np.random.default_rng(2)
    low = rng.uniform(0, 0.4, 32).tolist()
    contest, tasks = contest_of(
        {"low": low, "high": [score + 0.5 for score in low], "same": low}, tasks=8
    )
    measure = ScoreMeasure("f1", "bounded", 0, 1)
    noisy = macro_comparison(contest, tasks, measure)
    assert noisy.sampled
    assert (noisy.better_in("high"), noisy.better_in("same")) == (8, 0)
    # The same change in every query has no variance, and no test.
    change = noisy.change("high")
    assert change is not None
    assert change.mean == pytest.approx(0.5)
    assert (change.interval.low, change.p) == (None, None)
    better = [score + 0.4 + 0.1 * (n % 3) for n, score in enumerate(low)]
    contest, tasks = contest_of({"low": low, "high": better, "same": low}, tasks=8)
    known = macro_comparison(contest, tasks, measure)
    assert known.has_ranks
    ranks = [known.rank_range(name) for name in ("low", "high", "same")]
    assert ranks == [(2, 3), (1, 1), (2, 3)]
    lower = macro_comparison(contest, tasks, ScoreMeasure("f1", lower_is_better=True))
    assert [lower.rank_range(name) for name in ("low", "high", "same")] == [(1, 2), (3, 3), (1, 2)]
    assert lower.better_in("high") == 0
    pairs = macro_comparison(contest, tasks, measure, pairs="baseline")
    assert set(pairs.changes) == {("low", "high"), ("low", "same")}
    assert not pairs.has_ranks


def test_fewer_tasks_are_fixed() -> None:
    rng = np.random.default_rng(3)
    columns = {name: rng.uniform(0, 1, 60).tolist() for name in "ab"}
    for count in (2, LEAST_TASKS - 1, LEAST_TASKS):
        contest, tasks = contest_of(columns, tasks=count)
        known = macro_comparison(contest, tasks, ScoreMeasure("f1"))
        mean = known.macro["a"]
        assert mean is not None
        sampled = count == LEAST_TASKS
        assert mean.interval.method == ("t over tasks" if sampled else "stratified t")
        notes = " ".join(task_table(known, contest).notes)
        assert (f"hold for these {count} tasks" in notes) is not sampled
        assert (f"take the {count} tasks as a sample" in notes) is sampled
