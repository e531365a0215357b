"""Whether a group of queries scores worse than as many queries drawn from all."""

from collections.abc import Sequence

import numpy as np

from karat.stats.arrays import FloatArray
from karat.stats.chance import check_draws, generator
from karat.stats.correction import holm

__all__ = ["weak_groups"]

# Draws that are shuffled together.
AT_ONCE = 256


def weak_groups(
    scores: Sequence[float], groups: Sequence[int], *, draws: int = 9_999, seed: int = 0
) -> dict[int, float]:
    """Return for each group how likely one of its size is to have as low a mean by chance.

    Scores are shuffled among the queries, those that are NaN left out; the p values are corrected
    by Holm over the groups. A group without any score has none. Groups must not come from scores.

    >>> weak_groups([0, 0, 0, 0, 1, 1, 1, 1, 1, 1], [0] * 4 + [1] * 6, seed=1)[0] < 0.05
    True
    """
    check_draws(draws)
    values = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(values)
    values = values[known]
    names, codes = np.unique(np.asarray(groups)[known], return_inverse=True)
    member = np.eye(len(names))[codes]
    observed = values @ member
    # Sums that are equal on paper differ in their last digits.
    slack = 1e-9 * (np.abs(values).sum() + 1.0)
    reached = np.zeros(len(names))
    rng = generator(seed)
    for start in range(0, draws, AT_ONCE):
        block = np.tile(values, (min(AT_ONCE, draws - start), 1))
        sums: FloatArray = rng.permuted(block, axis=1) @ member
        reached += (sums <= observed + slack).sum(axis=0)
    corrected = holm(((reached + 1) / (draws + 1)).tolist())
    return dict(zip(names.tolist(), corrected, strict=True))
