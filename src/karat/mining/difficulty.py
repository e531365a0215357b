"""How hard a case is, from what can be counted before anyone searches."""

from enum import StrEnum
from typing import NamedTuple

from karat.mining.leaks import Leak

__all__ = ["Complexity", "Difficulty", "Facts", "complexity", "difficulty"]


class Complexity(StrEnum):
    """How many files a case has: below 2, 2 to 20, above 20."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Difficulty(StrEnum):
    """How hard a case is to answer by words alone."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Facts(NamedTuple):
    """What decides the difficulty; *candidates* is how many files are searched, 0 for unknown."""

    leak: Leak
    has_identifier: bool
    targets: int
    candidates: int = 0


_MANY_CANDIDATES = 1000


def complexity(files: int) -> Complexity:
    """Return the class of a case with so many files.

    >>> [complexity(files).value for files in (1, 2, 20, 21)]
    ['low', 'medium', 'medium', 'high']
    """
    if files < 2:
        return Complexity.LOW
    return Complexity.MEDIUM if files <= 20 else Complexity.HIGH


def difficulty(facts: Facts) -> Difficulty:
    """Return the class of a case: each fact that makes words less telling is a point.

    A query that spells the file (STEM and above) gives it away. On django, a word of a folder
    helped lexical search no more than nothing did (37 and 43 % first hits, 62 % for STEM), and
    names out of code helped most (57 against 33 %), so these two weigh double.

    >>> difficulty(Facts(Leak.PATH, has_identifier=True, targets=1)).value
    'easy'
    >>> difficulty(Facts(Leak.NONE, has_identifier=False, targets=3, candidates=2600)).value
    'hard'
    """
    points = (
        2 * (facts.leak < Leak.STEM)
        + 2 * (not facts.has_identifier)
        + (facts.targets > 1)
        + (facts.candidates > _MANY_CANDIDATES)
    )
    if points < 2:
        return Difficulty.EASY
    return Difficulty.MEDIUM if points < 4 else Difficulty.HARD
