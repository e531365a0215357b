"""The stored scores that later runs are compared with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.model.equality import by_value

__all__ = ["Baseline", "BaselineQuery"]


@by_value
class BaselineQuery(NamedTuple):
    """One query: its *digest*, its scores (NaN: not scored), and its first relevant rank.

    *rank* is None if no relevant hit was returned.
    """

    id: str
    digest: str
    rank: float | None
    scores: Mapping[str, float]


@by_value
@dataclass(frozen=True, slots=True)
class Baseline:
    """One scored run, stored to compare later runs with.

    *gold_digest* is the digest of the dataset, *settings* are those that affect judging, *made_at*
    is a date and *version* the version of Karat. *means* has each measure over all queries.
    """

    name: str
    gold: str
    gold_digest: str
    made_at: str
    version: str
    settings: Mapping[str, object]
    means: Mapping[str, float]
    queries: tuple[BaselineQuery, ...]
