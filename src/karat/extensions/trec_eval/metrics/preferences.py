"""Metrics of preferences: how often the preferred one of two documents is ranked higher.

Each has three scopes. The plain one counts every preference, and one with neither document returned
as failed; ``-imp`` skips those; ``-ret`` counts only preferences with both documents returned.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Literal, NamedTuple

from karat.extensions.trec_eval.judged import Preference, PreferenceQuery
from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric


class PreferenceRanks(NamedTuple):
    """Preferences of each judge over positions; positions below *returned* are in the ranking."""

    preferences: tuple[Preference, ...]
    returned: int


class Tally(NamedTuple):
    """Fulfilled and failed preferences of one judge, by how many of the two were returned.

    If only one of the two was returned, it ranks above the other. If none was, nothing is
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


def preference_ranks(judged: JudgedQuery) -> PreferenceRanks:
    """Return the preferences behind *judged*; plain grades are one judge who orders all by grade.

    >>> ranks = preference_ranks(JudgedQuery([4, 9], [0, 2], ideal=[2, 1, 0], retrieved=9))
    >>> ranks.preferences[0].levels, ranks.returned
    ({0: 0, 1: 2, 2: 1}, 2)
    """
    if isinstance(judged, PreferenceQuery):
        return PreferenceRanks(judged.preferences, judged.returned)
    grades = list(judged.found_grades)
    missing = Counter(judged.ideal)
    missing.subtract(grades)
    levels = dict(enumerate([*grades, *missing.elements()]))
    return PreferenceRanks((Preference(levels),), len(grades))


def classes(preference: Preference) -> list[list[int]]:
    """Return the positions of each level, highest level first, ascending within.

    >>> classes(Preference({0: 0.0, 1: 2.0, 2: 0.0}))
    [[1], [0, 2]]
    """
    members: dict[float, list[int]] = {}
    for position in sorted(preference.levels):
        members.setdefault(preference.levels[position], []).append(position)
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
        for position in above:
            for other in below:
                yield position, other


def tally(preference: Preference, returned: int) -> Tally:
    """Return the counts of one judge.

    >>> tally(Preference({0: 1.0, 1: 2.0, 2: 0.0}), returned=2)[:5]
    (0, 1, 2, 0, 0)
    """
    if preference.pairs is None:
        counts = _by_class(preference, returned)
    else:
        counts = _pair_counts(preference, returned)
    relevant = [position for position, level in preference.levels.items() if level > 0]
    others = [position for position, level in preference.levels.items() if level <= 0]
    return Tally(
        *counts,
        relevant=len(relevant),
        relevant_returned=sum(position < returned for position in relevant),
        others=len(others),
        others_returned=sum(position < returned for position in others),
    )


def _by_class(preference: Preference, returned: int) -> tuple[int, int, int, int, int]:
    both = both_failed = one = one_failed = none_failed = 0
    preferred: list[int] = []
    for members in classes(preference):
        seen = bisect_left(preferred, returned)
        unseen = len(preferred) - seen
        for position in members:
            if position < returned:
                above = bisect_left(preferred, position)
                both += above
                both_failed += seen - above
                one_failed += unseen
            else:
                one += seen
                none_failed += unseen
        preferred = sorted(preferred + members)
    return both, both_failed, one, one_failed, none_failed


def _pair_counts(preference: Preference, returned: int) -> tuple[int, int, int, int, int]:
    both = both_failed = one = one_failed = none_failed = 0
    for position, other in preferred_pairs(preference):
        if max(position, other) < returned:
            both += position < other
            both_failed += position > other
        elif min(position, other) < returned:
            one += position < other
            one_failed += position > other
        else:
            none_failed += 1
    return both, both_failed, one, one_failed, none_failed


def balanced_share(
    preference: Preference, counts: Tally, returned: int, *, only_returned: bool
) -> float:
    """Return the share of fulfilled preferences with as many other documents as relevant ones.

    If there are too few non-relevant documents, ones that rank last are added; if too many, only
    the first ones count. NaN if no preference is left.
    """
    relevant = counts.relevant_returned if only_returned else counts.relevant
    others = counts.others_returned if only_returned else counts.others
    if relevant >= others:
        fulfilled = counts.both + counts.relevant_returned * (relevant - others)
        possible = counts.both + counts.both_failed + counts.relevant * (relevant - others)
        if not only_returned:
            fulfilled += counts.one
            possible += counts.one + counts.one_failed + counts.none_failed
    elif preference.pairs is None:
        fulfilled, possible = _first_of_class(
            classes(preference), relevant, returned, only_returned=only_returned
        )
    else:
        fulfilled, possible = _first_of_pairs(
            preference, counts.relevant, returned, only_returned=only_returned
        )
    return fulfilled / possible if possible else nan


def _first_of_class(
    ordered: Sequence[list[int]], count: int, returned: int, *, only_returned: bool
) -> tuple[int, int]:
    """Return the fulfilled and the possible preferences with *count* members of the last class.

    trec_eval also compares the last class with its own first members, and so does this.
    """
    last = ordered[-1][:count]
    fulfilled = possible = 0
    for number, above in enumerate(ordered):
        rest = [position for below in ordered[number + 1 : -1] for position in below]
        for position in above:
            for other in [*rest, *last]:
                if only_returned and max(position, other) >= returned:
                    continue
                possible += 1
                fulfilled += position < other and position < returned
    return fulfilled, possible


def _first_of_pairs(
    preference: Preference, count: int, returned: int, *, only_returned: bool
) -> tuple[int, int]:
    """Return the fulfilled and the possible preferences without others past the first *count*."""
    others = [
        position for position in sorted(preference.levels) if preference.levels[position] <= 0
    ]
    dropped = set(others[count:])
    fulfilled = possible = 0
    for position, other in preferred_pairs(preference):
        if position in dropped or other in dropped:
            continue
        if only_returned and max(position, other) >= returned:
            continue
        possible += 1
        fulfilled += position < other and position < returned
    return fulfilled, possible


Scope = Literal["all", "imp", "ret"]
Score = Callable[[JudgedQuery], float]

LAWS = frozenset({"ideal", "padding", "promotion"})


def _fulfilled(counts: Tally, scope: Scope) -> int:
    return counts.both if scope == "ret" else counts.both + counts.one


def _possible(counts: Tally, scope: Scope) -> int:
    both = counts.both + counts.both_failed
    one = 0 if scope == "ret" else counts.one + counts.one_failed
    return both + one + (counts.none_failed if scope == "all" else 0)


def _tallies(judged: JudgedQuery) -> list[Tally]:
    preferences, returned = preference_ranks(judged)
    return [tally(preference, returned) for preference in preferences]


def _number_fulfilled(scope: Scope) -> Score:
    def number(judged: JudgedQuery) -> float:
        return float(sum(_fulfilled(counts, scope) for counts in _tallies(judged)))

    return number


@metric(
    "Number of preferences.",
    formula="preferences of all judges, summed",
    high=inf,
    laws=LAWS,
    average="sum",
)
def prefs_num_prefs_poss(judged: JudgedQuery) -> float:
    """Return the number of preferences of all judges."""
    return float(sum(_possible(counts, "all") for counts in _tallies(judged)))


def _simple(scope: Scope) -> Score:
    """Return the share over all preferences of all judges."""

    def share(judged: JudgedQuery) -> float:
        tallies = _tallies(judged)
        possible = sum(_possible(counts, scope) for counts in tallies)
        fulfilled = sum(_fulfilled(counts, scope) for counts in tallies)
        return fulfilled / possible if possible else 0.0

    return share


def _by_judge(scope: Scope) -> Score:
    """Return the mean over judges of each judge's share."""

    def share(judged: JudgedQuery) -> float:
        shares = [
            _fulfilled(counts, scope) / possible if (possible := _possible(counts, scope)) else 0.0
            for counts in _tallies(judged)
        ]
        return sum(shares) / len(shares)

    return share


def _by_pair(scope: Scope) -> Score:
    """Return the mean over document pairs of the share of judges whose preference is fulfilled."""
    simple = _simple(scope)

    def share(judged: JudgedQuery) -> float:
        order = preference_ranks(judged)
        if len(order.preferences) == 1:
            return simple(judged)  # one judge has one preference per pair
        return _mean_over_pairs(order, scope)

    return share


def _mean_over_pairs(order: PreferenceRanks, scope: Scope) -> float:
    votes = Counter(pair for judge in order.preferences for pair in preferred_pairs(judge))
    pairs = sorted({(min(pair), max(pair)) for pair in votes})
    counted = 0
    total = 0.0
    for upper, lower in pairs:
        if scope != "all" and (lower if scope == "ret" else upper) >= order.returned:
            continue
        counted += 1
        if upper < order.returned:
            agree = votes[upper, lower]
            total += agree / (agree + votes[lower, upper])
    return total / counted if counted else 0.0


def _balanced(*, only_returned: bool) -> Score:
    def share(judged: JudgedQuery) -> float:
        preferences, returned = preference_ranks(judged)
        shares = [
            balanced_share(
                preference, tally(preference, returned), returned, only_returned=only_returned
            )
            for preference in preferences
        ]
        # One judge without a usable preference makes the mean 0, as in trec_eval.
        return 0.0 if any(map(isnan, shares)) else sum(shares) / len(shares)

    return share


SIMPLE = "Share of preferences fulfilled, all judges together"
JUDGES = "Share of preferences fulfilled, averaged over judges"
PAIRS = "Share of judges whose preference is fulfilled, averaged over document pairs"
BALANCED = (
    "Share of preferences fulfilled, averaged over judges, with as many non-relevant documents as "
    "relevant ones"
)
EVERY = "a pair without a returned document fails"
IMPLIED = "pairs without a returned document are skipped"
RETURNED = "only pairs with both documents returned"

NUM_FUL = metric(
    "Preferences fulfilled with at least one document returned.",
    name="prefs-num-prefs-ful",
    formula="preferences fulfilled, summed",
    high=inf,
    laws=LAWS,
    average="sum",
)(_number_fulfilled("imp"))

NUM_FUL_RET = metric(
    "Preferences fulfilled with both documents returned.",
    name="prefs-num-prefs-ful-ret",
    formula="preferences fulfilled, summed",
    high=inf,
    laws=LAWS,
    average="sum",
)(_number_fulfilled("ret"))

SIMP = metric(
    f"{SIMPLE}; {EVERY}.", name="prefs-simp", formula="fulfilled / preferences", laws=LAWS
)(_simple("all"))

SIMP_IMP = metric(
    f"{SIMPLE}; {IMPLIED}.", name="prefs-simp-imp", formula="fulfilled / preferences", laws=LAWS
)(_simple("imp"))

SIMP_RET = metric(
    f"{SIMPLE}; {RETURNED}.", name="prefs-simp-ret", formula="fulfilled / preferences", laws=LAWS
)(_simple("ret"))

PAIR = metric(
    f"{PAIRS}; {EVERY}.",
    name="prefs-pair",
    formula="mean over pairs of fulfilled / preferences",
    laws=LAWS,
)(_by_pair("all"))

PAIR_IMP = metric(
    f"{PAIRS}; {IMPLIED}.",
    name="prefs-pair-imp",
    formula="mean over pairs of fulfilled / preferences",
    laws=LAWS,
)(_by_pair("imp"))

PAIR_RET = metric(
    f"{PAIRS}; {RETURNED}.",
    name="prefs-pair-ret",
    formula="mean over pairs of fulfilled / preferences",
    laws=LAWS,
)(_by_pair("ret"))

AVGJG = metric(
    f"{JUDGES}; {EVERY}.",
    name="prefs-avgjg",
    formula="mean over judges of fulfilled / preferences",
    laws=LAWS,
)(_by_judge("all"))

AVGJG_IMP = metric(
    f"{JUDGES}; {IMPLIED}.",
    name="prefs-avgjg-imp",
    formula="mean over judges of fulfilled / preferences",
    laws=LAWS,
)(_by_judge("imp"))

AVGJG_RET = metric(
    f"{JUDGES}; {RETURNED}.",
    name="prefs-avgjg-ret",
    formula="mean over judges of fulfilled / preferences",
    laws=LAWS,
)(_by_judge("ret"))

AVGJG_RNONREL = metric(
    f"{BALANCED}; {EVERY}.",
    name="prefs-avgjg-rnonrel",
    formula="mean over judges of fulfilled / preferences, the first R non-relevant kept, missing "
    "ones ranked last; 0 if a judge has no preference left",
    laws=frozenset({"padding"}),
)(_balanced(only_returned=False))

AVGJG_RNONREL_RET = metric(
    f"{BALANCED}; {RETURNED}.",
    name="prefs-avgjg-rnonrel-ret",
    formula="as prefs-avgjg-rnonrel over the documents returned",
    laws=frozenset({"padding"}),
)(_balanced(only_returned=True))
