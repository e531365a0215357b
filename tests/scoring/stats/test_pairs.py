"""Sums of differences from sums of scores, against the differences themselves."""

from itertools import combinations

import numpy as np
import pytest

from karat.scoring.stats.paired import ComparisonPlan, columns_of, compare, paired_scores
from karat.scoring.stats.signflip import PairedScores, flip_sums, pair_rows, resample_sums

SYSTEMS = 10
PAIRS = np.array(list(combinations(range(SYSTEMS), 2)))

Scores = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def some_scores(queries: int, *, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return np.round(rng.random((queries, SYSTEMS)) * (rng.random((queries, 1)) < 0.8), 3)


def paired(scores: Scores) -> PairedScores:
    return PairedScores(scores, PAIRS[:, 1], PAIRS[:, 0], np.ones(SYSTEMS))


def subtract(scores: Scores) -> Scores:
    return scores[:, PAIRS[:, 1]] - scores[:, PAIRS[:, 0]]


def test_few_pairs_have_no_shared_rows() -> None:
    scores = some_scores(20)
    assert pair_rows(subtract(scores), None) is None
    some = paired(scores).subset(np.arange(4 * SYSTEMS - 1))
    assert pair_rows(subtract(scores)[:, : 4 * SYSTEMS - 1], some) is None


def test_sums_are_those_of_the_differences() -> None:
    scores = some_scores(30)
    shared = pair_rows(subtract(scores), paired(scores))
    assert shared is not None
    weights = np.random.default_rng(1).choice([-1.0, 1.0], (5, 30))
    expected = (weights @ subtract(scores)).T
    assert shared.sums(weights) * shared.unit[:, None] == pytest.approx(expected, abs=1e-12)
    assert len(shared.numbers) == SYSTEMS + 1


def test_missing_queries_and_tiny_differences_have_rows_of_their_own() -> None:
    scores = some_scores(30)
    scores[:, 1] = scores[:, 0]
    scores[3, 1] += 1e-6
    differences = subtract(scores)
    differences[np.flatnonzero(differences[:, 20])[0], 20] = 0.0
    shared = pair_rows(differences, paired(scores))
    assert shared is not None
    weights = np.random.default_rng(1).integers(0, 3, (5, 30)).astype(np.float64)
    expected = (weights @ differences).T
    assert shared.sums(weights) * shared.unit[:, None] == pytest.approx(expected, abs=1e-12)
    assert len(shared.numbers) == SYSTEMS + 3
    # To the relative precision of its own size.
    assert (shared.sums(weights) * shared.unit[:, None])[0] == pytest.approx(expected[0], rel=1e-9)


def test_identical_systems_stay_identical() -> None:
    scores = some_scores(30)
    scores[:, 1] = scores[:, 0]
    shared = pair_rows(subtract(scores), paired(scores))
    assert shared is not None
    assert not shared.sums(np.ones((1, 30)))[0].any()


def test_many_systems_that_are_all_identical_do_not_differ() -> None:
    names = [f"s{index}" for index in range(SYSTEMS)]
    for queries in (0, 40):
        comparison = compare(np.ones((SYSTEMS, queries, 1)), systems=names, metrics=["m"], draws=99)
        assert {entry.p for entry in comparison.differences} == {1.0 if queries else None}


@pytest.mark.parametrize("queries", [8, 60])
def test_flips_reach_the_same_sums_either_way(queries: int) -> None:
    scores = some_scores(queries)
    scores[2] = 0.5
    alone = flip_sums(subtract(scores), draws=499, seed=3)
    shared = flip_sums(subtract(scores), draws=499, seed=3, paired=paired(scores))
    assert shared.complete == alone.complete == (queries == 8)
    assert np.abs(shared.sums - alone.sums).max() < alone.slack
    assert np.abs(shared.observed - alone.observed).max() < alone.slack
    for column in range(len(PAIRS)):
        reached = [
            (each.sums[column] >= each.observed[column] - each.slack).sum()
            for each in (alone, shared)
        ]
        assert reached[0] == reached[1]


def test_resamples_are_the_same_either_way() -> None:
    scores = some_scores(60)
    scores -= scores.mean(axis=0)
    alone = resample_sums(subtract(scores), draws=199, seed=3)
    shared = resample_sums(subtract(scores), draws=199, seed=3, paired=paired(scores))
    assert shared == pytest.approx(alone, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_comparison_has_the_p_values_of_its_pairs(
    clustered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    values = np.stack([some_scores(80).T, 900 * some_scores(80, seed=1).T], axis=2)
    values += np.linspace(0, 0.2, SYSTEMS)[:, None, None] * [0.5, 300.0]
    values[2, rng.random(80) < 0.1] = np.nan
    values[3] = np.nan
    options = {
        "systems": [f"s{index}" for index in range(SYSTEMS)],
        "metrics": ["ndcg@10", "lines"],
        "draws": 999,
        "clusters": rng.integers(0, 40, 80) if clustered else None,
    }
    comparison = compare(values, **options)  # type: ignore[arg-type]
    monkeypatch.setattr("karat.scoring.stats.signflip.PAIRS_PER_SCORE", 1_000)
    expected = compare(values, **options)  # type: ignore[arg-type]
    assert comparison == expected
    assert {entry.p_method for entry in comparison.differences} == {"monte carlo", "none"}


def test_scores_that_are_all_zero_have_a_scale() -> None:
    cube = np.zeros((3, 4, 1))
    plan = ComparisonPlan(
        ("a", "b", "c"), ("m",), columns_of(3, 1, "all"), [None], "maxt", 0.95, 0.8, 99, 0, None
    )
    assert paired_scores(cube, plan).largest.tolist() == [1.0, 1.0, 1.0]
