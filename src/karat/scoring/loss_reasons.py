"""Loss reasons: why a relevant target is not among the first hits, and how each is told.

To add one, give it a number, its words, and the rule by which it is recognised.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from karat.model import QueryStatus


class LossReason(IntEnum):
    """Whether a relevant target was found in the first k hits, or the reason of its loss.

    ``THRESHOLD``, ``RERANKER`` and ``FUSION`` are steps that moved it out of the first k; the last
    one counts. A target that no step had there is ``BELOW_K`` if it was returned at all, otherwise
    ``NOT_RETRIEVED``. No ranking can find ``NO_CHUNK`` and ``NOT_IN_CORPUS``.
    """

    FOUND = 0
    BELOW_K = 1
    THRESHOLD = 2
    RERANKER = 3
    FUSION = 4
    NOT_RETRIEVED = 5
    NO_CHUNK = 6
    NOT_IN_CORPUS = 7
    UNANSWERED = 8


class LossReasonText(NamedTuple):
    """A loss reason in words: *label* in charts and tables, *reason* beside one target.

    *name* is the key in JSON and in the API, *text* the definition, *shade* the colour on a page.
    ``{k}`` and ``{depth}`` in *text* are filled in by :func:`loss_text`.
    """

    name: str
    label: str
    reason: str
    text: str
    shade: str


LOSS_REASONS: dict[LossReason, LossReasonText] = {
    LossReason.FOUND: LossReasonText("found", "found", "found", "in the first {k} hits", "h5"),
    LossReason.BELOW_K: LossReasonText(
        "too low", "ranked below k", "ranked below k", "returned below rank {k}", "h3"
    ),
    LossReason.THRESHOLD: LossReasonText(
        "threshold",
        "threshold",
        "dropped by the threshold",
        "in the first {k} hits, but scored below the threshold",
        "f2",
    ),
    LossReason.RERANKER: LossReasonText(
        "reranker",
        "reranker",
        "moved down by the reranker",
        "moved below rank {k} by the reranker",
        "f3",
    ),
    LossReason.FUSION: LossReasonText(
        "fusion",
        "fusion",
        "moved down by fusion",
        "in the first {k} hits of one stage, below that after fusion",
        "f4",
    ),
    LossReason.NOT_RETRIEVED: LossReasonText(
        "not returned",
        "not retrieved",
        "not retrieved",
        "not among the hits returned (at most {depth})",
        "f5",
    ),
    LossReason.NO_CHUNK: LossReasonText(
        "in no chunk", "in no chunk", "in no chunk", "no chunk of the index covers it", "f6"
    ),
    LossReason.NOT_IN_CORPUS: LossReasonText(
        "not in corpus",
        "not in the corpus",
        "not in the corpus",
        "its file is not in the searched corpus",
        "f7",
    ),
    LossReason.UNANSWERED: LossReasonText(
        "unanswered", "query not answered", "query not answered", "its query failed", "hx"
    ),
}

# The reasons that are known without searching again; the steps of an engine may give another.
UNEXPLAINED = (LossReason.BELOW_K, LossReason.NOT_RETRIEVED, LossReason.NOT_IN_CORPUS)
# Reasons that follow from a run; the others need its engine.
ALWAYS = (LossReason.FOUND, LossReason.BELOW_K, LossReason.NOT_RETRIEVED, LossReason.UNANSWERED)
# The reason if a step of an engine has moved a target out of the first hits.
LOST_BY = {
    "fusion": LossReason.FUSION,
    "rerank": LossReason.RERANKER,
    "threshold": LossReason.THRESHOLD,
}


def loss_reason_at(rank: int, status: QueryStatus, k: int) -> LossReason:
    """Return the loss reason of a target at *rank*; rank 0 means not returned."""
    if rank:
        return LossReason.FOUND if rank <= k else LossReason.BELOW_K
    return LossReason.NOT_RETRIEVED if status is QueryStatus.SCORED else LossReason.UNANSWERED


def culprit(steps: Sequence[tuple[str, int]], k: int) -> LossReason | None:
    """Return which step moved a target out of the first *k*; None where no step had it there.

    >>> culprit([("stage", 3), ("stage", 0), ("fusion", 12), ("rerank", 40)], 10)
    <LossReason.FUSION: 4>
    >>> culprit([("stage", 3), ("fusion", 5), ("rerank", 11)], 10)
    <LossReason.RERANKER: 3>
    """
    alone = [rank for kind, rank in steps if kind == "stage" and rank]
    line = [("stage", min(alone, default=0)), *(step for step in steps if step[0] != "stage")]
    last = max((position for position, (_, rank) in enumerate(line) if 0 < rank <= k), default=None)
    if last is None or last + 1 == len(line):
        return None
    return LOST_BY[line[last + 1][0]]
