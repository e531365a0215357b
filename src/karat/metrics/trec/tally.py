"""How many preferences a ranking fulfils, by how much of each it returned."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from karat.model import JudgedQuery
from karat.model.preferences import Preference, PreferenceQuery

__all__ = ["Ranked", "Tally", "classes", "preferred_pairs", "ranked", "tally"]


class Ranked(NamedTuple):
    """Preferences of each judge over positions; those below *returned* are in the ranking."""

    preferences: tuple[Preference, ...]
    returned: int


class Tally(NamedTuple):
    """Preferences of one judge, fulfilled and failed, by how many of the two were returned.

    Where only one of the two was returned, it stands above the other. Where none was, nothing is
    fulfilled. *relevant* and *others* count documents, ``_returned`` those in the ranking.
    """

    both: int
    both_failed: int
    one: int
    one_failed: int
    none_failed: int
    relevant: int
    relevant_returned: int
    others: int
    others_returned: int


def ranked(judged: JudgedQuery) -> Ranked:
    """Return the preferences behind *judged*; plain grades are one judge who orders all by grade.

    >>> ranked(JudgedQuery([4, 9], [0, 2], ideal=[2, 1, 0], retrieved=9))
    Ranked(preferences=(Preference(levels={0: 0, 1: 2, 2: 1}, pairs=None),), returned=2)
    """
    if isinstance(judged, PreferenceQuery):
        return Ranked(judged.preferences, judged.returned)
    found = list(judged.found_grades)
    missing = Counter(judged.ideal)
    missing.subtract(found)
    levels = dict(enumerate([*found, *missing.elements()]))
    return Ranked((Preference(levels),), len(found))


def classes(preference: Preference) -> list[list[int]]:
    """Return the positions of each level, highest level first, ascending within.

    >>> classes(Preference({0: 0.0, 1: 2.0, 2: 0.0}))
    [[1], [0, 2]]
    """
    members: dict[float, list[int]] = {}
    for place in sorted(preference.levels):
        members.setdefault(preference.levels[place], []).append(place)
    return [members[level] for level in sorted(members, reverse=True)]


def preferred_pairs(preference: Preference) -> Iterator[tuple[int, int]]:
    """Yield each (preferred, other).

    >>> list(preferred_pairs(Preference({0: 0.0, 1: 2.0})))
    [(1, 0)]
    """
    if preference.pairs is not None:
        yield from preference.pairs
        return
    for above, below in combinations(classes(preference), 2):
        for place in above:
            for other in below:
                yield place, other


def tally(preference: Preference, returned: int) -> Tally:
    """Return the counts of one judge.

    >>> tally(Preference({0: 1.0, 1: 2.0, 2: 0.0}), returned=2)[:5]
    (0, 1, 2, 0, 0)
    """
    if preference.pairs is None:
        counts = _by_class(preference, returned)
    else:
        counts = _by_pair(preference, returned)
    relevant = [place for place, level in preference.levels.items() if level > 0]
    others = [place for place, level in preference.levels.items() if level <= 0]
    return Tally(
        *counts,
        relevant=len(relevant),
        relevant_returned=sum(place < returned for place in relevant),
        others=len(others),
        others_returned=sum(place < returned for place in others),
    )


def _by_class(preference: Preference, returned: int) -> tuple[int, int, int, int, int]:
    both = both_failed = one = one_failed = none_failed = 0
    preferred: list[int] = []
    for members in classes(preference):
        seen = bisect_left(preferred, returned)
        unseen = len(preferred) - seen
        for place in members:
            if place < returned:
                above = bisect_left(preferred, place)
                both += above
                both_failed += seen - above
                one_failed += unseen
            else:
                one += seen
                none_failed += unseen
        preferred = sorted(preferred + members)
    return both, both_failed, one, one_failed, none_failed


def _by_pair(preference: Preference, returned: int) -> tuple[int, int, int, int, int]:
    both = both_failed = one = one_failed = none_failed = 0
    for place, other in preferred_pairs(preference):
        if max(place, other) < returned:
            both += place < other
            both_failed += place > other
        elif min(place, other) < returned:
            one += place < other
            one_failed += place > other
        else:
            none_failed += 1
    return both, both_failed, one, one_failed, none_failed
