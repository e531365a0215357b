"""A mean with its interval, and batches of evaluations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.ndcg.ranking import Judgments
from karat.ndcg.truth import GradeTable
from karat.scoring.metrics import Measure, average

__all__ = ["Batch", "Estimate", "estimates", "truths_for"]


class Estimate(NamedTuple):
    """A mean with its interval; the mean is None where nothing was scored."""

    mean: float | None
    interval: Interval


def estimates(
    rows: Sequence[Mapping[str, float]],
    measures: Sequence[Measure],
    *,
    level: float,
    draws: int,
    seed: int,
) -> dict[str, Estimate]:
    """Return the mean of each measure over *rows* with its bootstrap interval."""
    from karat.scoring.stats import bootstrap_intervals

    names = [str(measure) for measure in measures]
    columns = [[row[name] for name in names] for row in rows] or [[float("nan")] * len(names)]
    intervals = bootstrap_intervals(
        columns,
        bounds=[measure.bounds for measure in measures],
        level=level,
        draws=draws,
        seed=seed,
    )
    estimates = {}
    for name, interval in zip(names, intervals, strict=True):
        mean = average([row[name] for row in rows])
        estimates[name] = Estimate(None if isnan(mean) else mean, interval)
    return estimates


@dataclass(frozen=True, slots=True)
class Batch:
    """What several rankings earn.

    ``scores`` has one entry per ranking, None for one whose query has no positive judgment; those
    are counted in ``unjudged`` and left out of ``means``. ``duplicates`` counts the repeated keys
    that were passed over.
    """

    scores: tuple[dict[str, float] | None, ...]
    means: dict[str, Estimate]
    unjudged: int
    duplicates: int


def truths_for(judgments: Judgments | Sequence[Judgments], rankings: int) -> list[GradeTable]:
    """Return the truth of each ranking; judgments that several share are read once.

    One mapping serves all rankings; of a sequence each ranking has its own entry.
    """
    if isinstance(judgments, Mapping):
        return [GradeTable(judgments)] * rankings
    if len(judgments) != rankings:
        raise InputError(
            f"got {rankings} rankings and the judgments of {len(judgments)}; expected as many"
        )
    read: dict[int, GradeTable] = {}
    for entry in judgments:
        # The same object, not an equal one: comparing would cost more than reading.
        if id(entry) not in read:
            read[id(entry)] = GradeTable(entry)
    return [read[id(entry)] for entry in judgments]
