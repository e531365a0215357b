"""McNemar's exact test for metrics that are hit or miss on each query."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import as_columns, paired_differences
from karat.scoring.stats.distributions import sign_test

__all__ = ["McNemar", "mcnemar"]


class McNemar(NamedTuple):
    """Queries that only one of the two hits, and the exact two-sided p value."""

    only_system: int
    only_baseline: int
    p: float


def mcnemar(system: ArrayLike, baseline: ArrayLike) -> McNemar:
    """Return the exact test of two columns of 0 and 1; a query that either lacks is left out.

    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0])
    McNemar(only_system=5, only_baseline=0, p=0.0625)
    """
    ours, theirs = as_columns(system)[:, 0], as_columns(baseline)[:, 0]
    if len(ours) != len(theirs):
        raise InputError(f"got {len(ours)} and {len(theirs)} queries; expected the same queries")
    both = np.concatenate([ours, theirs])
    if not np.isin(both[~np.isnan(both)], (0.0, 1.0)).all():
        raise InputError("McNemar's test got values other than 0 and 1; expected hit or miss")
    differences = paired_differences(ours, theirs)
    wins = int(np.count_nonzero(differences > 0))
    losses = int(np.count_nonzero(differences < 0))
    return McNemar(wins, losses, sign_test(wins, losses))
