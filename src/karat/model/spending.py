"""What a search says that it has spent: tokens and money."""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

__all__ = ["Spent", "spent"]

TOKENS = ("tokens", "total_tokens", "tokens_used")
COSTS = ("cost", "cost_usd", "total_cost")
# Where providers of language models put their counts.
USAGE = "usage"


class Spent(NamedTuple):
    """Tokens and money; 0 where the search does not say."""

    tokens: int = 0
    cost: float = 0.0


def spent(metadata: Mapping[str, object]) -> Spent:
    """Return what *metadata* of an answer says; what is no number from 0 up counts as not said.

    Where there is no total, ``input_tokens`` and ``output_tokens`` are summed.

    >>> spent({"usage": {"input_tokens": 900, "output_tokens": 100}, "cost_usd": 0.002})
    Spent(tokens=1000, cost=0.002)
    """
    if not metadata:
        return Spent()
    usage = metadata.get(USAGE)
    said = {**usage, **metadata} if isinstance(usage, Mapping) else metadata
    parts = (_first(said, ("input_tokens",)), _first(said, ("output_tokens",)))
    return Spent(int(_first(said, TOKENS) or sum(parts)), _first(said, COSTS))


def _first(said: Mapping[str, object], names: tuple[str, ...]) -> float:
    values = (said.get(name) for name in names)
    numbers = (value for value in values if isinstance(value, int | float))
    return next((value for value in numbers if isfinite(value) and value > 0), 0.0)
