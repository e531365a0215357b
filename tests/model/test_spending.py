"""Tokens and cost, as agents tell them."""

from collections.abc import Mapping
from math import inf

import pytest

from karat.runner.spending import Spent, spent


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, Spent(0, 0.0)),
        ({"tokens": 12}, Spent(12, 0.0)),
        ({"usage": {"total_tokens": 7}, "cost": 1}, Spent(7, 1.0)),
        ({"input_tokens": 3, "output_tokens": 4}, Spent(7, 0.0)),
        ({"tokens": "many", "cost": -1.0}, Spent(0, 0.0)),
        ({"tokens": inf, "cost_usd": 0.5}, Spent(0, 0.5)),
    ],
)
def test_what_was_spent(metadata: Mapping[str, object], expected: Spent) -> None:
    assert spent(metadata) == expected
