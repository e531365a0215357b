"""Non-inferiority and equivalence: whether a difference stays within a margin.

Decided by the interval of the difference: a system is not worse by the margin if the whole interval
is above minus the margin, which is a one-sided test at half of 1 minus the level. Two systems are
equivalent if the interval lies within the margin on both sides (two one-sided tests).
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import isfinite

from karat.errors import InputError
from karat.model.comparison import IDENTICAL, Comparison, Difference
from karat.scoring.stats.verdict import number, size
from karat.system.words import join_names


class MarginOutcome(Enum):
    """What an interval says about a margin; UNCLEAR: the set is too small to say it."""

    EQUIVALENT = "equivalent"
    NOT_WORSE = "not worse"
    WORSE = "worse"
    UNCLEAR = "unclear"


def parse_margins(texts: Iterable[str], measures: Sequence[str]) -> dict[str, float]:
    """Return the margin of each measure in texts such as ``ndcg@10=0.02``.

    A number alone is for the first of *measures*.

    >>> parse_margins(["0.02", "mrr=0.05"], ["ndcg@10", "mrr"])
    {'ndcg@10': 0.02, 'mrr': 0.05}
    """
    margins = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, _, value = text.rpartition("=")
        measure = name.strip() or measures[0]
        if measure not in measures:
            known = join_names(list(measures))
            raise InputError(f"--margin {text}: {measure!r} is not compared; expected {known}")
        try:
            margin = float(value)
        except ValueError:
            margin = -1.0
        if not isfinite(margin) or margin <= 0:
            raise InputError(f"--margin {text}: expected a number above 0, such as 0.02")
        margins[measure] = margin
    return margins


def margin_outcome(entry: Difference, margin: float, *, lower: bool = False) -> MarginOutcome:
    """Return what the interval of *entry* says about *margin*; with *lower*, less is better."""
    if entry.interval.method == IDENTICAL:
        return MarginOutcome.EQUIVALENT
    low, high = entry.interval.low, entry.interval.high
    if low is None or high is None:
        return MarginOutcome.UNCLEAR
    if lower:
        low, high = -high, -low
    if low > -margin:
        return MarginOutcome.EQUIVALENT if high < margin else MarginOutcome.NOT_WORSE
    return MarginOutcome.WORSE if high < -margin else MarginOutcome.UNCLEAR


def margin_notes(comparison: Comparison, texts: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each pair with the baseline and each measure that has a margin."""
    for measure, margin in parse_margins(texts, comparison.metrics).items():
        for system in comparison.systems:
            if system == comparison.baseline:
                continue
            entry = comparison.difference(comparison.baseline, system, measure)
            lower = measure in comparison.lower_is_better
            yield _sentence(entry, margin, margin_outcome(entry, margin, lower=lower))


def _sentence(entry: Difference, margin: float, outcome: MarginOutcome) -> str:
    names, amount = (entry.system, entry.baseline), number(margin)
    text = {
        MarginOutcome.EQUIVALENT: "{0} and {1} are equivalent within {2} on {3}",
        MarginOutcome.NOT_WORSE: "{0} is not worse than {1} by {2} or more on {3}",
        MarginOutcome.WORSE: "{0} is worse than {1} by more than {2} on {3}",
        MarginOutcome.UNCLEAR: "whether {0} is worse than {1} by {2} or more on {3} is open",
    }[outcome].format(*names, amount, entry.metric)
    tail = (1 - entry.interval.level) / 2
    return f"margin: {text} ({size(entry)}; one-sided at {tail * 100:g} %, not corrected)"
