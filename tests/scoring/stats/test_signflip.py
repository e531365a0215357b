import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.signflip import flip_sums, flip_units, sign_flip


def test_by_hand_all_four_better() -> None:
    # Of the sixteen sign patterns only all-plus and all-minus come up to the observed sum.
    (test,) = sign_flip([0.5, 0.25, 0.125, 0.3])
    assert test.p == 2 / 16


def test_monte_carlo_agrees_with_scipy() -> None:
    differences = np.random.default_rng(0).normal(0.05, 0.3, 127)
    (test,) = sign_flip(differences)
    expected = stats.permutation_test(
        (differences, np.zeros(127)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(1),
    ).pvalue
    assert test.method == "monte carlo"
    # Five standard errors of two Monte Carlo estimates.
    assert test.p == pytest.approx(expected, abs=5 * math.sqrt(2 * 0.25 * expected / 9_999))


def test_a_large_effect_has_the_smallest_p_that_the_draws_allow() -> None:
    differences = 0.5 + np.random.default_rng(0).random(200)
    assert sign_flip(differences, draws=999)[0].p == 1 / 1_000


def test_no_difference_has_p_one() -> None:
    assert sign_flip([0.0, 0.0, math.nan])[0].p == 1.0
    assert sign_flip([])[0].p == 1.0


def test_missing_and_equal_queries_change_nothing() -> None:
    differences = np.random.default_rng(3).normal(0.05, 0.3, 50)
    padded = np.concatenate([differences, [math.nan, 0.0, 0.0]])
    assert sign_flip(padded) == sign_flip(differences)


def test_few_differences_among_many_columns_are_enumerated_for_all() -> None:
    columns = np.zeros((100, 2))
    columns[:5] = np.random.default_rng(0).normal(size=(5, 2))
    flips = flip_sums(columns, draws=9_999, seed=0)
    assert flips.complete
    assert flips.sums.shape == (2, 16)
    assert flips.p(16) == 1.0


def test_monte_carlo_tends_to_the_exact_value() -> None:
    grid = np.random.default_rng(5).integers(-3, 5, 40) / 10.0
    (exact,) = sign_flip(grid)
    flips = flip_sums(grid[:, None], draws=99_999, seed=1)
    reached = int((flips.sums[0] >= flips.observed[0] - flips.slack).sum())
    assert exact.method == "exact grid"
    assert flips.p(reached) == pytest.approx(exact.p, abs=0.005)


def test_clusters_flip_as_one() -> None:
    differences = [0.5, 0.1, 0.3, -0.3, 0.7, 0.2, -0.2, 0.25]
    clusters = [0, 0, 1, 1, 2, 3, 3, 4]
    # Totals 0.6, 0, 0.7, 0, 0.25: three that count, all positive.
    (test,) = sign_flip(differences, clusters=clusters)
    assert test.nonzero == 3
    assert test.p == 2 / 8


def test_a_cluster_that_cancels_out_is_a_tie() -> None:
    totals = flip_units(np.array([[0.1], [0.2], [-0.3]]), [0, 0, 0])
    assert totals.tolist() == [[0.0]]


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="draws is 5"):
        sign_flip([0.1], draws=5)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.floats(0.001, 1_000))
def test_sign_and_scale_do_not_matter(seed: int, scale: float) -> None:
    differences = np.random.default_rng(seed).normal(0.1, 0.3, 30)
    tests = sign_flip(np.stack([differences, -differences, differences * scale], axis=1), draws=999)
    assert tests[0] == tests[1]
    assert tests[2].p == pytest.approx(tests[0].p, abs=2 / 1_000)


PROGRAM = """
import numpy as np
from karat.scoring.stats import compare
rng = np.random.default_rng(0)
values = np.clip(rng.normal(0.5, 0.3, (3, 127, 4)), 0, 1)
print(compare(values, systems="ABC", metrics="wxyz", bounds=(0, 1), draws=1_999))
"""


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    }
    assert len(outputs) == 1
    assert b"Comparison" in outputs.pop()
