"""Many rankings at once, and two systems over the same queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.errors import InputError
from karat.ndcg.estimate import Estimate
from karat.ndcg.ranking import Judgments
from karat.ndcg.truth import GradeTable

__all__ = ["Batch", "truths_for"]


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
