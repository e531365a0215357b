"""A query that several people judged, by grades or by preferences."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.model.frozen import by_value

# {judge: {part: {document: level}}}; within a part a higher level is preferred to a lower one.
Judges = Mapping[str, Mapping[str, Mapping[str, float]]]


class PanelQuery(JudgedQuery):
    """One query judged by several people; *judges* has the judged query of each of them.

    For metrics without judges, the query has the highest grade of any judge.
    """

    __slots__ = ("judges",)

    def __init__(self, highest: JudgedQuery, judges: Sequence[JudgedQuery]) -> None:
        """Take the columns of *highest* and store *judges*."""
        super().__init__(
            highest.ranks,
            highest.grades,
            ideal=highest.ideal,
            retrieved=highest.retrieved,
            spans=highest.spans,
            tied=highest.tied,
        )
        self.judges = tuple(judges)

    def _values(self) -> tuple[object, ...]:
        return (*super()._values(), self.judges)


@by_value
class Preference(NamedTuple):
    """The preferences of one judge among documents, which are given by their positions.

    *levels* maps a position to the level that the judge gave it. *pairs* has (preferred, other) if
    the judge compared in several parts, and is None if one order covers all: then any higher level
    is preferred to any lower one.
    """

    levels: Mapping[int, float]
    pairs: frozenset[tuple[int, int]] | None = None


class PreferenceQuery(JudgedQuery):
    """One query with preferences: positions 0 .. *returned* - 1 were returned, in that order.

    For metrics without preferences, the grade of a document is its highest level.
    """

    __slots__ = ("preferences", "returned")

    def __init__(
        self, query_id: str, judges: Judges, *, returned: Mapping[str, int], retrieved: int
    ) -> None:
        """Store the preferences of *judges*; *returned* maps judged documents to ranks, in order.

        Contradictory preferences of a judge raise InputError.
        """
        highest: dict[str, float] = {}
        for parts in judges.values():
            for levels in parts.values():
                for document, level in levels.items():
                    highest[document] = max(level, highest.get(document, level))
        super().__init__(
            list(returned.values()),
            [highest[document] for document in returned],
            ideal=sorted(highest.values(), reverse=True),
            retrieved=retrieved,
        )
        missing = sorted(document for document in highest if document not in returned)
        places = {document: position for position, document in enumerate([*returned, *missing])}
        self.returned = len(returned)
        self.preferences = tuple(
            _preference(f"query {query_id!r}, judge {judge!r}", judges[judge], places)
            for judge in sorted(judges)
        )

    def _values(self) -> tuple[object, ...]:
        return (*super()._values(), self.preferences, self.returned)


def _preference(
    where: str, parts: Mapping[str, Mapping[str, float]], places: Mapping[str, int]
) -> Preference:
    levels: dict[int, float] = {}
    for part in sorted(parts):
        for document, level in parts[part].items():
            before = levels.setdefault(places[document], level)
            if (before > 0) != (level > 0):
                raise InputError(f"{where}: {document!r} is relevant in one part, not in another")
            levels[places[document]] = level
    if len(parts) == 1:
        return Preference(levels)
    placed = [
        {places[document]: level for document, level in parts[part].items()} for part in parts
    ]
    below = _closed({position: _below(position, placed) for position in levels})
    names = {position: document for document, position in places.items()}
    for position, mask in below.items():
        if mask >> position & 1:
            raise InputError(
                f"{where}: {names[position]!r} is preferred to itself through other documents"
            )
    return Preference(
        levels,
        frozenset(
            (position, other)
            for position in below
            for other in below
            if below[position] >> other & 1
        ),
    )


def _below(position: int, parts: Sequence[Mapping[int, float]]) -> int:
    """Return the positions that any part ranks below *position*, one bit each."""
    mask = 0
    for part in parts:
        if position in part:
            for other, level in part.items():
                mask |= (level < part[position]) << other
    return mask


def _closed(below: Mapping[int, int]) -> dict[int, int]:
    """Return the transitive closure of *below*."""
    closed = dict(below)
    for middle in below:
        reached = closed[middle]
        closed = {
            position: mask | reached if mask >> middle & 1 else mask
            for position, mask in closed.items()
        }
    return closed
