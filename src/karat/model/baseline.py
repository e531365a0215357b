"""The scores that a later run is held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.model.equality import by_value

__all__ = ["Baseline", "BaselineQuery"]


@by_value
class BaselineQuery(NamedTuple):
    """One query: what it asks as a *digest*, its scores (NaN: not scored), its first relevant rank.

    *rank* is None where no relevant hit was returned.
    """

    id: str
    digest: str
    rank: float | None
    scores: Mapping[str, float]


@by_value
@dataclass(frozen=True, slots=True)
class Baseline:
    """One scored run, kept to compare later runs with.

    *gold_digest* is that of the gold set, *settings* is what decides how hits are judged, *made_at*
    a date and *version* that of Karat. *means* hold each measure over all queries.
    """

    name: str
    gold: str
    gold_digest: str
    made_at: str
    version: str
    settings: Mapping[str, object]
    means: Mapping[str, float]
    queries: tuple[BaselineQuery, ...]
