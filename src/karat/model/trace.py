"""A judged query with its hits: the hit at each rank, and the rank of each target."""

from typing import NamedTuple

from karat.model.run import Hit

__all__ = ["Trace"]


class Trace(NamedTuple):
    """One query of a run, for reports that show the hits behind a score.

    * ``hits``: the first ones by rank, as they were judged: valid, collapsed, ties broken.
    * ``matched``: for each of these hits the index of a target that it covers, -1 for none.
    * ``found``: for each target the rank at which it was first covered, 0 if it was not.
    * ``retrieved``: the number of ranked hits, including those not in ``hits``.
    """

    hits: tuple[Hit, ...]
    matched: tuple[int, ...]
    found: tuple[int, ...]
    retrieved: int
