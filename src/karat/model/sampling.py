"""Parts of a dataset: drawn at random, in proportion to strata, or split by time."""

from collections.abc import Hashable, Mapping
from random import Random
from typing import TypeVar

from karat.errors import InputError
from karat.model.dataset import Dataset, Query

Stratum = TypeVar("Stratum", bound=Hashable)


def draw_sample(gold: Dataset, count: int | None, *, seed: int) -> Dataset:
    """Return *count* queries of *gold* drawn by *seed*, in their order; None takes all.

    >>> from karat.model import Query
    >>> gold = Dataset.of([Query(str(number), "text") for number in range(9)])
    >>> draw_sample(gold, 3, seed=1).query_ids
    ('3', '6', '7')
    """
    if count is None:
        return gold
    if count < 1:
        raise InputError(f"cannot draw a sample of {count} queries; expected 1 or more")
    if count >= len(gold):
        return gold
    rows = set(Random(f"{seed} sample").sample(range(len(gold)), count))
    queries = (query for row, query in enumerate(gold.queries()) if row in rows)
    return gold.with_queries(queries)


def allocate(sizes: Mapping[Stratum, int], limit: int) -> dict[Stratum, int]:
    """Return how many of *limit* cases each stratum of *sizes* gets, by largest remainder.

    After the whole shares, the rest goes first to strata without a case, the largest first, then by
    remainder; ties are broken by name.

    >>> allocate({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 9, 'b': 1, 'c': 0}
    """
    total = sum(sizes.values())
    limit = min(limit, total)
    given = {stratum: limit * size // max(total, 1) for stratum, size in sizes.items()}
    waiting = sorted(
        (stratum for stratum in sizes if given[stratum] < sizes[stratum]),
        key=lambda stratum: (
            given[stratum] > 0,
            -(limit * sizes[stratum] % total),
            repr(stratum),
        ),
    )
    for stratum in waiting[: limit - sum(given.values())]:
        given[stratum] += 1
    return given


def split_by_time(dataset: Dataset, names: tuple[str, str], *, share: float) -> list[Dataset]:
    """Return the older cases and the newest *share* of them as two datasets, called *names*.

    Commits of the same second stay together on the newer side, and so do all queries of one commit.
    The metadata have the time of the split as ``cutoff``: every newer case was committed then or
    later, so a user can choose cases that a model cannot have seen in training.
    """
    times = sorted(map(_time, dataset.queries()))
    first = len(times) - round(len(times) * share)
    cutoff = times[first] if first < len(times) else ""
    older = [query for query in dataset.queries() if _time(query) < cutoff]
    newer = [query for query in dataset.queries() if _time(query) >= cutoff]
    if not cutoff or not older:
        raise InputError(
            f"cannot split {len(times)} cases with a share of {share:g} at the end; "
            "expected cases on both sides of the split"
        )
    return [
        _part(dataset, part, name, cutoff) for name, part in zip(names, (older, newer), strict=True)
    ]


def _time(query: Query) -> str:
    return str(query.extra["timestamp"])


def _part(dataset: Dataset, queries: list[Query], name: str, cutoff: str) -> Dataset:
    about = {"split": name, "cutoff": cutoff, "test_cases_generated": len(queries)}
    return Dataset.of(
        queries,
        name=f"{dataset.name} {name}",
        match=dataset.match,
        metadata={**dataset.metadata, **about},
    )
