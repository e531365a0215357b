"""Where the queries of a gold set were searched."""

from dataclasses import dataclass

__all__ = ["Searched"]


@dataclass(frozen=True, slots=True)
class Searched:
    """The trees that were searched, and how many of the relevant targets are in them.

    *snapshot* is ``parent``, ``base``, ``head`` or ``child``; ``carried`` where the gold set was
    carried to *revision*, and ``corpus`` where all queries are searched on documents named beside
    the gold set. *place* is the repository or the corpus.
    *candidates* says whether tests may be found: ``production`` is without them, ``all`` with
    them. *fewest* and *most* count the documents of a tree. A target is unresolved where its path
    is not in the tree that its query is searched on; *lost_queries* have no other target.
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
