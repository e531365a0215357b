"""Tokens and cost, as agents tell them."""

from collections.abc import Mapping
from math import inf, nan

import pytest

from karat.model.timings import QueryCost, spent, spent_in, total


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, QueryCost()),
        ({"tokens": 12}, QueryCost(12)),
        ({"tokens": 0, "cost": 0}, QueryCost(0, 0.0)),
        ({"usage": {"total_tokens": 7}, "cost": 1}, QueryCost(7, 1.0)),
        ({"metadata": {"usage": {"total_tokens": 7}, "cost": 1}}, QueryCost(7, 1.0)),
        ({"metadata": {"tokens": 7}, "usage": {"tokens": 8}, "tokens": 9}, QueryCost(9)),
        ({"_meta": {"tokens": 7}}, QueryCost(7)),
        ({"input_tokens": 3, "output_tokens": 4}, QueryCost(7)),
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 4}}, QueryCost(7)),
        ({"input_tokens": 3, "output_tokens": -4}, QueryCost(3, None, 1)),
        (
            {"input_tokens": 3, "output_tokens": 4, "prompt_tokens": 3, "completion_tokens": 4},
            QueryCost(7),
        ),
        ({"tokens": "12", "cost": "0.5"}, QueryCost(12, 0.5)),
        ({"tokens": "many", "cost": -1.0}, QueryCost(None, None, 2)),
        ({"tokens": inf, "cost_usd": 0.5}, QueryCost(None, 0.5, 1)),
        ({"tokens": nan, "cost": True}, QueryCost(None, None, 2)),
        ({"tokens": 10**400, "cost": 1e300}, QueryCost(None, None, 2)),
        ({"tokens": -1, "total_tokens": 5}, QueryCost(5, None, 1)),
        ({"tokens": ["a", "list", "of", "words"], "cost": None, "usage": 3}, QueryCost()),
    ],
)
def test_what_was_spent(metadata: Mapping[str, object], expected: QueryCost) -> None:
    assert spent(metadata) == expected


def test_several_searches_of_one_query_add_up() -> None:
    assert total([]) == total([QueryCost()]) == QueryCost()
    assert total([QueryCost(1, None, 1), QueryCost(), QueryCost(2, 0.5, 2)]) == QueryCost(3, 0.5, 3)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({}, QueryCost()),
        ({"spent": "much"}, QueryCost()),
        ({"spent": {"tokens": 3, "cost": 0.5}}, QueryCost(3, 0.5)),
        ({"spent": {"tokens": 0}}, QueryCost(0)),
        ({"spent": {"ignored": 2}}, QueryCost(None, None, 2)),
        # A run file that somebody else has written.
        ({"spent": {"tokens": -3, "ignored": "x"}}, QueryCost(None, None, 1)),
    ],
)
def test_what_a_stored_answer_holds(extra: Mapping[str, object], expected: QueryCost) -> None:
    assert spent_in(extra) == expected
