from itertools import combinations, permutations, product
from math import nan

import numpy as np
import pytest

from karat.errors import InputError
from karat.extensions.analyze.stats.topics import weak_groups


def test_the_chance_is_that_of_all_ways_to_choose() -> None:
    scores = [0.0, 0.1, 0.5, 0.4, 0.9, 0.6, 0.8, 1.0]
    ways = [sum(chosen) for chosen in combinations(scores, 3)]
    exact = np.mean([total <= 0.0 + 0.1 + 0.5 + 1e-9 for total in ways])
    chances = weak_groups(scores, [0, 0, 0, 1, 1, 1, 1, 1])
    # Two groups, so that Holm doubles the smaller one.
    assert chances[0] == pytest.approx(2 * exact, abs=0.02)
    assert chances[1] == pytest.approx(1.0, abs=0.05)


def test_equal_groups_are_not_weak() -> None:
    assert weak_groups([0.5] * 12, [0] * 6 + [1] * 6) == {0: 1.0, 1: 1.0}


def test_what_is_not_scored_is_left_out() -> None:
    scores = [0.0] * 6 + [1.0] * 12
    groups = [0] * 6 + [1] * 12
    more = weak_groups([*scores, nan, nan], [*groups, 0, 2])
    assert more == weak_groups(scores, groups)
    assert more[0] < 0.01


def test_false_alarms_are_rare() -> None:
    rng = np.random.default_rng(1)
    groups = [n % 4 for n in range(40)]
    lowest = [
        min(weak_groups(rng.random(40).tolist(), groups, draws=199).values()) for _ in range(200)
    ]
    assert sum(p <= 0.05 for p in lowest) <= 20


def test_a_cluster_counts_once_however_many_queries_it_has() -> None:
    scores = [0.1, 0.0, 0.2, 0.9, 0.6, 0.8, 1.0, 0.7]
    groups = [0, 0, 0, 1, 1, 1, 1, 1]
    thrice = weak_groups(
        np.repeat(scores, 3).tolist(),
        np.repeat(groups, 3).tolist(),
        clusters=np.repeat(range(8), 3),
    )
    assert thrice == weak_groups(scores, groups)


def test_clusters_change_places_with_others_of_their_size() -> None:
    scores = np.array([0.0, 0.7, 0.9, 0.1, 0.3, 0.8, 0.6])
    clusters, groups = [0, 1, 2, 3, 3, 4, 4], [0, 1, 1, 0, 0, 1, 1]
    ways = [
        scores[[*single, *sum(pairs, ())]]
        for single, pairs in product(permutations([0, 1, 2]), permutations([(3, 4), (5, 6)]))
    ]
    exact = np.mean([way[[0, 3, 4]].sum() <= scores[[0, 3, 4]].sum() + 1e-9 for way in ways])
    chances = weak_groups(scores.tolist(), groups, clusters=clusters)
    assert chances[0] == pytest.approx(2 * exact, abs=0.02)


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="draws is 10"):
        weak_groups([0.0], [0], draws=10)
