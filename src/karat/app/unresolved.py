"""Targets that are in no tree searched: a run keeps their paths, and a report leaves them out."""

from collections.abc import Mapping, Sequence

from karat.model import Dataset
from karat.model.timings import Measured

__all__ = ["NOTE", "missing_paths", "resolved_for"]

# What the notes of a run call them.
NOTE = "unresolved"


def missing_paths(gold: Dataset, resolved: Dataset) -> dict[str, list[str]]:
    """Return, by query, the paths of relevant targets of *gold* that *resolved* lacks."""
    found = {}
    for before, after in zip(gold.queries(), resolved.queries(), strict=True):
        left = {target.path for target in after.targets}
        gone = [t.path for t in before.targets if t.grade > 0 and t.path not in left]
        if gone:
            found[before.id] = list(dict.fromkeys(gone))
    return found


def resolved_for(gold: Dataset, runs: Sequence[Measured]) -> Dataset | None:
    """Return *gold* without the targets that were in no tree which *runs* have searched.

    None where all were there, where no other is left, and where the runs do not say the same.
    """
    first, *others = (run.notes.get(NOTE) for run in runs)
    if not isinstance(first, Mapping) or not first or any(other != first for other in others):
        return None
    queries = [
        query._replace(
            targets=tuple(t for t in query.targets if t.path not in first.get(query.id, ()))
        )
        for query in gold.queries()
    ]
    if not any(target.grade > 0 for query in queries for target in query.targets):
        return None
    return Dataset.of(queries, name=gold.name, match=gold.match, metadata=gold.metadata)
