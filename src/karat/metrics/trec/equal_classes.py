"""Preferences with as many non-relevant documents as relevant ones."""

from collections.abc import Sequence
from math import nan

from karat.metrics.trec.tally import Tally, classes, preferred_pairs
from karat.model.preferences import Preference

__all__ = ["balanced_share"]


def balanced_share(
    preference: Preference, counts: Tally, returned: int, *, only_returned: bool
) -> float:
    """Return the share of preferences fulfilled when others are made as many as the relevant.

    Too few non-relevant documents are filled up with ones that rank last; of too many only the
    first are kept. NaN where no preference is left.
    """
    kept = counts.relevant_returned if only_returned else counts.relevant
    others = counts.others_returned if only_returned else counts.others
    if kept >= others:
        fulfilled = counts.both + counts.relevant_returned * (kept - others)
        possible = counts.both + counts.both_failed + counts.relevant * (kept - others)
        if not only_returned:
            fulfilled += counts.one
            possible += counts.one + counts.one_failed + counts.none_failed
    elif preference.pairs is None:
        fulfilled, possible = _first_of_class(
            classes(preference), kept, returned, only_returned=only_returned
        )
    else:
        fulfilled, possible = _first_of_pairs(
            preference, counts.relevant, returned, only_returned=only_returned
        )
    return fulfilled / possible if possible else nan


def _first_of_class(
    ordered: Sequence[list[int]], kept: int, returned: int, *, only_returned: bool
) -> tuple[int, int]:
    """Return the preferences fulfilled and possible with *kept* members of the last class.

    trec_eval also compares the last class with its own first members, and so does this.
    """
    last = ordered[-1][:kept]
    fulfilled = possible = 0
    for number, above in enumerate(ordered):
        rest = [place for below in ordered[number + 1 : -1] for place in below]
        for place in above:
            for other in [*rest, *last]:
                if only_returned and max(place, other) >= returned:
                    continue
                possible += 1
                fulfilled += place < other and place < returned
    return fulfilled, possible


def _first_of_pairs(
    preference: Preference, kept: int, returned: int, *, only_returned: bool
) -> tuple[int, int]:
    """Return the preferences fulfilled and possible without the others past the first *kept*."""
    others = [place for place in sorted(preference.levels) if preference.levels[place] <= 0]
    dropped = set(others[kept:])
    fulfilled = possible = 0
    for place, other in preferred_pairs(preference):
        if place in dropped or other in dropped:
            continue
        if only_returned and max(place, other) >= returned:
            continue
        possible += 1
        fulfilled += place < other and place < returned
    return fulfilled, possible
