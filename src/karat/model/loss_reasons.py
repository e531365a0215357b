"""Why a relevant target is not among the first hits."""

from enum import IntEnum


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
