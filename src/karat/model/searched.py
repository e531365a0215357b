"""The snapshots that the queries of a dataset were run on."""

from dataclasses import dataclass

__all__ = ["CorpusCoverage"]


@dataclass(frozen=True, slots=True)
class CorpusCoverage:
    """The searched snapshots, and how many of the relevant targets they contain.

    *snapshot* is ``parent``, ``base``, ``head`` or ``child``; ``carried`` if the dataset was
    carried to *revision*, and ``corpus`` if all queries are run on one corpus. *place* is the
    repository or the corpus. *candidates* is ``production`` (without tests) or ``all``. *fewest*
    and *most* count the documents of a snapshot. A target is unresolved if its path is not in the
    snapshot of its query; *lost_queries* have no other target.
    """

    snapshot: str
    place: str
    candidates: str
    trees: int
    fewest: int
    most: int
    targets: int
    unresolved: int
    lost_queries: int
    revision: str = ""
