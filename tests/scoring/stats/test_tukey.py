import math

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats.paired import randomised_tukey
from karat.scoring.stats.signflip import sign_flip


def test_two_systems_are_the_sign_flip_test() -> None:
    table = np.random.default_rng(0).random((40, 2))
    (test,) = sign_flip(table[:, 0] - table[:, 1])
    assert randomised_tukey(table)[0, 1] == pytest.approx(test.p, abs=0.02)


def test_the_result_is_symmetric_with_ones_on_the_diagonal() -> None:
    p = randomised_tukey(np.random.default_rng(1).random((30, 4)), draws=499)
    assert np.array_equal(p, p.T)
    assert (np.diag(p) == 1.0).all()
    assert (p > 0).all()


def test_a_clear_winner_is_found_and_its_equals_are_not() -> None:
    table = np.random.default_rng(2).random((60, 4)) * 0.3
    table[:, 2] += 0.5
    p = randomised_tukey(table, draws=999)
    assert (p[2, [0, 1, 3]] == 1 / 1_000).all()
    assert p[0, 1] > 0.05


def test_incomplete_queries_are_left_out() -> None:
    table = np.random.default_rng(3).random((20, 3))
    padded = np.concatenate([table, [[0.5, math.nan, 0.1]]])
    assert np.array_equal(randomised_tukey(padded, draws=199), randomised_tukey(table, draws=199))


def test_a_cluster_is_shuffled_as_one() -> None:
    table = np.random.default_rng(4).random((12, 3))
    thrice, labels = np.repeat(table, 3, axis=0), np.repeat(range(12), 3)
    tests = randomised_tukey(thrice, draws=499, clusters=labels)
    assert np.array_equal(tests, randomised_tukey(table, draws=499))
    assert tests[0, 1] > randomised_tukey(thrice, draws=499)[0, 1]


def test_two_systems_in_clusters_are_the_sign_flip_test() -> None:
    table = np.random.default_rng(5).random((40, 2))
    table[3, 0] = math.nan
    labels = np.arange(40) // 4
    (test,) = sign_flip(table[:, 0] - table[:, 1], clusters=labels)
    tests = randomised_tukey(table, clusters=labels)
    assert tests[0, 1] == pytest.approx(test.p, abs=0.02)


def test_nothing_to_go_by_has_p_one() -> None:
    assert (randomised_tukey([[math.nan, 0.5]]) == 1.0).all()
    assert (randomised_tukey(np.zeros((5, 3)), draws=99) == 1.0).all()


def test_one_system_is_refused() -> None:
    with pytest.raises(InputError, match="got 1 system"):
        randomised_tukey([0.1, 0.2])
