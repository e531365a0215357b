"""Expected values over the orders of tied hits.

Under the tie policy ``expected`` each judged hit may have any rank of its span with equal
probability. A metric that sums over hits needs only the mean weight of a span; the others are
derived from the tied groups.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from karat.model import JudgedQuery

__all__ = ["TieGroup", "groups", "hits_within", "mean_weight"]


class TieGroup(NamedTuple):
    """Hits that share ranks before+1 .. before+size; *grades* are those of the judged ones."""

    before: int
    size: int
    grades: tuple[float, ...]

    def within(self, k: int | None) -> int:
        """Return how many of the shared ranks are not beyond *k*."""
        return self.size if k is None else max(0, min(self.size, k - self.before))

    def relevant(self, level: float) -> int:
        """Return how many of the judged hits are relevant at *level*."""
        return sum(grade > 0 and grade >= level for grade in self.grades)


def groups(judged: JudgedQuery) -> Iterator[TieGroup]:
    """Return the groups that have judged hits, best first; without ties each has one hit."""
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    members: dict[tuple[int, int], list[float]] = {}
    for span, grade in zip(spans, judged.grades, strict=True):
        members.setdefault(span, []).append(grade)
    for (first, last), grades in sorted(members.items()):
        yield TieGroup(first - 1, last - first + 1, tuple(grades))


def mean_weight(first: int, last: int, weight: Callable[[int], float], k: int | None) -> float:
    """Return the mean of *weight* over ranks first..last; ranks beyond *k* weigh 0."""
    end = last if k is None else min(last, k)
    return sum(map(weight, range(first, end + 1))) / (last - first + 1)


def hits_within(judged: JudgedQuery, k: int | None, level: float) -> float:
    """Return the number of relevant hits within rank *k*, expected under ties."""
    if judged.spans is None:
        ranks = judged.relevant(level)
        return len(ranks) if k is None else bisect_right(ranks, k)
    # Integers as long as possible: a sum of many shares of one tie could round to more than k.
    return sum(tie.relevant(level) * tie.within(k) / tie.size for tie in groups(judged))
