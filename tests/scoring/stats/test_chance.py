import itertools

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats import arrays
from karat.scoring.stats.arrays import (
    block_rows,
    check_draws,
    every_flip,
    generator,
    random_flips,
    resample_counts,
)


def test_the_same_seed_gives_the_same_chance_and_another_seed_another() -> None:
    def flips(seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.concatenate(list(random_flips(generator(seed), draws=100, width=70)))

    assert np.array_equal(flips(1), flips(1))
    assert not np.array_equal(flips(1), flips(2))


def test_flips_are_fair_coins_also_beyond_one_machine_word() -> None:
    flips = np.concatenate(list(random_flips(generator(0), draws=9_999, width=130)))
    assert flips.shape == (9_999, 130)
    assert set(np.unique(flips)) == {0.0, 1.0}
    # Five standard deviations of a mean of 9,999 coins.
    assert np.abs(flips.mean(axis=0) - 0.5).max() < 5 * 0.5 / 9_999**0.5
    neighbours = np.corrcoef(flips[:, :-1].ravel(), flips[:, 1:].ravel())[0, 1]
    assert abs(neighbours) < 0.005


def test_flips_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(random_flips(generator(3), draws=500, width=90)))
    monkeypatch.setattr(arrays, "BLOCK", 900)
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 1)
    parts = list(random_flips(generator(3), draws=500, width=90))
    assert len(parts) == 50
    assert np.array_equal(np.concatenate(parts), whole)


def test_every_flip_lists_each_pattern_once_up_to_the_global_sign() -> None:
    patterns = {tuple(row) for row in every_flip(4).tolist()}
    assert len(patterns) == 8
    mirrored = {tuple(1.0 - bit for bit in row) for row in patterns}
    assert patterns | mirrored == set(itertools.product((0.0, 1.0), repeat=4))


def test_a_resample_has_as_many_queries_as_the_sample() -> None:
    blocks = list(resample_counts(generator(0), draws=9_999, width=127))
    counts = np.concatenate(blocks)
    assert len(blocks) > 1
    assert counts.shape == (9_999, 127)
    assert (counts.sum(axis=1) == 127).all()
    # A count is binomial with mean 1 and variance 126/127.
    assert abs(counts.var() - 126 / 127) < 0.01


def test_more_queries_than_sixteen_bits_can_number() -> None:
    (counts,) = resample_counts(generator(0), draws=1, width=70_000)
    assert counts.sum() == 70_000
    assert counts[0, 65_536:].sum() > 4_000


@pytest.mark.parametrize(("width", "rows"), [(0, 32_768), (128, 256), (7_000, 128), (10**8, 1)])
def test_blocks_are_neither_too_narrow_nor_too_large(width: int, rows: int) -> None:
    assert block_rows(width) == rows


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="draws is 98"):
        check_draws(98)
    check_draws(99)
