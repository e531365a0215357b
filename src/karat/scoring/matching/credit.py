"""Assign credit: each target is credited once, at the first rank that matches it.

A symbol that is evidence also counts once. On a hit in a target's file it can raise the credit
to 1; on any other hit it stands in for one open target, the one with the highest grade. Credit at a
rank never depends on hits below it. See design/0011.
"""

from collections import Counter
from collections.abc import Sequence

from karat.scoring.matching.modes import Matcher
from karat.scoring.matching.units import QueryTargets

__all__ = ["CreditLedger", "max_credits"]


def max_credits(wanted: QueryTargets, matcher: Matcher) -> list[float]:
    """Return the maximum credit of each target.

    A symbol raises one target to full credit; targets with the highest grades come first.
    """
    pairs = zip(_ceilings(wanted, matcher), wanted.targets, strict=True)
    return [ceiling * target.grade for ceiling, target in pairs]


def _ceilings(wanted: QueryTargets, matcher: Matcher) -> list[float]:
    ceilings = [matcher.ceiling(target) for target in wanted.targets]
    below = [
        index
        for index, target in enumerate(wanted.targets)
        if ceilings[index] < 1.0 and target.grade > 0
    ]
    below.sort(key=lambda index: wanted.targets[index].grade, reverse=True)
    for index in below[: len(wanted.symbols)]:
        ceilings[index] = 1.0
    return ceilings


class CreditLedger:
    """Credits each target once and uses each symbol once, hit by hit in rank order."""

    def __init__(self, wanted: QueryTargets, matcher: Matcher) -> None:
        """Start with all targets of one query open."""
        self._targets = wanted.targets
        self._plain = [matcher.ceiling(target) for target in wanted.targets]
        self._open = [True] * len(wanted.targets)
        self._unused = [True] * len(wanted.symbols)
        self._raised: set[int] = set()
        # How many targets of each grade a symbol may still raise: as many as in the ideal ranking,
        # so that no ranking earns more.
        self._room = Counter(
            target.grade
            for target, plain, ceiling in zip(
                wanted.targets, self._plain, _ceilings(wanted, matcher), strict=True
            )
            if ceiling > plain
        )

    def pay(
        self, own: Sequence[float], symbols: Sequence[float]
    ) -> tuple[list[float], float | None]:
        """Return the credits of the next hit with its evidence, and its gain; None for no match."""
        row = list(own)
        matched = [index for index, credit in enumerate(own) if credit]
        if not matched and not any(symbols):
            return row, None
        usable = zip(symbols, self._unused, strict=True)
        evidence = max((credit for credit, unused in usable if unused), default=0.0)
        if matched:
            payers = [index for index in matched if self._open[index]]
        else:
            payers = [
                index
                for index, target in enumerate(self._targets)
                if self._open[index] and evidence and target.grade > 0
            ]
        gain = 0.0
        if payers:
            best = max(payers, key=lambda i: (row[i] or evidence) * self._targets[i].grade)
            row[best] = self._raise(best, own[best], evidence)
            self._open[best] = False
            gain = row[best] * self._targets[best].grade
        if payers or matched:
            least = max(own) if matched else evidence
            for index, credit in enumerate(symbols):
                if credit and credit >= least:
                    self._unused[index] = False
        return row, gain

    def ceilings(self) -> list[float]:
        """Return the maximum credit of each target, given how symbols were used."""
        left = Counter(self._room)
        found = []
        for index, (target, plain) in enumerate(zip(self._targets, self._plain, strict=True)):
            if index in self._raised:
                found.append(1.0)
            elif left[target.grade] > 0 and plain < 1.0:
                left[target.grade] -= 1
                found.append(1.0)
            else:
                found.append(plain)
        return found

    def _raise(self, index: int, own: float, evidence: float) -> float:
        """Return the credit for the target at *index*, with the evidence that may raise it."""
        grade = self._targets[index].grade
        credit = max(own, evidence)
        if credit > self._plain[index]:
            if not self._room[grade]:
                return max(own, min(evidence, self._plain[index]))
            self._room[grade] -= 1
            self._raised.add(index)
        return credit
