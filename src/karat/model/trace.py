"""A judged query with its places left in: what was returned at which rank, and what was found."""

from typing import NamedTuple

from karat.model.run import Hit

__all__ = ["Trace"]


class Trace(NamedTuple):
    """One query of a run, for readers who want to see the hits behind a score.

    * ``hits``: the first ones by rank, as they were judged: valid, collapsed, ties broken.
    * ``matched``: for each of these hits the number of a target that it covers, -1 for none.
    * ``found``: for each target the rank at which it was first covered, 0 where it was not.
    * ``retrieved``: how many hits were ranked, those that are not kept included.
    """

    hits: tuple[Hit, ...]
    matched: tuple[int, ...]
    found: tuple[int, ...]
    retrieved: int
