"""A product is the same bit for bit, whichever rows stand beside it and whoever computes it."""

import numpy as np
import pytest

from karat.engines.nearest import products

RANDOM = np.random.default_rng(7)
ROWS = RANDOM.standard_normal((1_001, 48), np.float32)
VECTOR = RANDOM.standard_normal(48, np.float32)


def test_they_are_products() -> None:
    assert products(ROWS, VECTOR) == pytest.approx(ROWS.astype(float) @ VECTOR, abs=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    assert products(ROWS, VECTOR, threads=threads).tobytes() == products(ROWS, VECTOR).tobytes()


@pytest.mark.parametrize("length", [0, 1, 2, 500])
def test_neighbours_change_nothing(length: int) -> None:
    alone = products(ROWS[:length], VECTOR)
    assert alone.tobytes() == products(ROWS, VECTOR)[:length].tobytes()
    assert products(ROWS[:length], VECTOR, threads=2).tobytes() == alone.tobytes()
