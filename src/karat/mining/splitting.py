"""Older cases to tune with and newer ones to judge by."""

from karat.errors import InputError
from karat.model import Dataset, Query

__all__ = ["split_by_time"]


def split_by_time(dataset: Dataset, names: tuple[str, str], *, share: float) -> list[Dataset]:
    """Return the older cases and the newest *share* of them as two datasets, called *names*.

    Commits of the same second stay together, on the newer side, hence so do all queries of one
    commit. The metadata tell the ``cutoff``, so that a user can choose cases that a model cannot
    have seen: every newer case was committed then or later.
    """
    times = sorted(map(_time, dataset.queries()))
    first = len(times) - round(len(times) * share)
    cutoff = times[first] if first < len(times) else ""
    older = [query for query in dataset.queries() if _time(query) < cutoff]
    newer = [query for query in dataset.queries() if _time(query) >= cutoff]
    if not cutoff or not older:
        raise InputError(
            f"{len(times)} cases cannot be split with a share of {share:g} at the end; "
            "expected some before and some after a time"
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
