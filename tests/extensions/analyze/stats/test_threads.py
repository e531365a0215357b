"""Matrix products of the statistics of topics use one thread."""

from collections.abc import Callable

import numpy as np
import pytest

from karat.extensions.analyze.stats import topics
from tests.scoring.stats.test_threads import check_threads, two_threads

__all__ = ["two_threads"]

VALUES = np.random.default_rng(0).normal(size=(40, 3))
CALLS: dict[str, Callable[[], object]] = {
    # A name that is looked up where the products are made.
    "silhouette": lambda: topics.group_directions(VALUES),
    "holm": lambda: topics.weak_groups(VALUES[:, 0].tolist(), [0, 1] * 20, draws=99),
}


@pytest.mark.parametrize("function", CALLS)
def test_every_statistic_with_matrix_products(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_threads(topics, function, CALLS[function], monkeypatch)
