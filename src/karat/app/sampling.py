"""A part of a gold set, drawn by chance."""

from random import Random

from karat.errors import InputError
from karat.model import Dataset

__all__ = ["sampled"]


def sampled(gold: Dataset, count: int | None, *, seed: int) -> Dataset:
    """Return *count* queries of *gold* drawn by *seed*, in their order; None takes all.

    >>> from karat.model import Query
    >>> gold = Dataset.of([Query(str(number), "text") for number in range(9)])
    >>> sampled(gold, 3, seed=1).query_ids
    ('3', '6', '7')
    """
    if count is None:
        return gold
    if count < 1:
        raise InputError(f"a sample of {count} queries; expected 1 or more")
    if count >= len(gold):
        return gold
    rows = set(Random(f"{seed} sample").sample(range(len(gold)), count))
    queries = (query for row, query in enumerate(gold.queries()) if row in rows)
    return Dataset.of(queries, name=gold.name, match=gold.match, metadata=gold.metadata)
