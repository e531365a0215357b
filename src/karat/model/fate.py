"""What becomes of a target in a run."""

from enum import IntEnum

__all__ = ["Fate"]


class Fate(IntEnum):
    """Whether a relevant target was found in the first k hits, or else where it was lost.

    A step has lost it that moved it out of the first k: ``THRESHOLD``, ``RERANKER`` or ``FUSION``,
    the last of several. What no step had there is ``BELOW_K`` if it was returned at all, otherwise
    ``NOT_RETRIEVED``. ``NO_CHUNK`` and ``NOT_IN_CORPUS`` could not be found by any ranking.
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
