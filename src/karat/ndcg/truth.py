"""The judgments of one query, with what every ranking is measured against."""

from collections.abc import Sequence
from math import isfinite

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.ndcg.ranking import Judgments, KeyRanking, read_judgments
from karat.scoring.metrics.gain import dcg, gain_function

__all__ = ["GradeTable", "finite", "ideal_gain"]


class GradeTable:
    """Grades by key; the ideal order and its gain at each cut are computed once.

    >>> truth = GradeTable({"a": 1.0, "b": 0.5})
    >>> truth.judge(KeyRanking(("x", "b"), 0)).ranks, round(truth.idcg(3, "linear"), 4)
    ([2], 1.3155)
    """

    __slots__ = ("_idcg", "grades", "ideal")

    def __init__(self, judgments: Judgments) -> None:
        """Read *judgments*."""
        self.grades = read_judgments(judgments)
        self.ideal = sorted(self.grades.values(), reverse=True)
        self._idcg: dict[tuple[int, str], float] = {}

    @property
    def scorable(self) -> bool:
        """Whether anything is relevant at all."""
        return bool(self.ideal) and self.ideal[0] > 0

    def idcg(self, k: int, gain: str) -> float:
        """Return the gain of all judgments in the best order, cut at *k*."""
        if (k, gain) not in self._idcg:
            self._idcg[k, gain] = ideal_gain(self.ideal, k, gain)
        return self._idcg[k, gain]

    def judge(self, ranking: KeyRanking) -> JudgedQuery:
        """Return the ranks and grades of the judged keys of *ranking*.

        Keys without a score are placed by their order alone, so that nothing has to be counted;
        the same as ``locate`` of karat.scoring.matching with scores that fall from first to last.
        """
        grades = self.grades
        hits = [
            (rank, grades[key]) for rank, key in enumerate(ranking.keys, start=1) if key in grades
        ]
        return JudgedQuery(
            [rank for rank, _ in hits],
            [grade for _, grade in hits],
            ideal=self.ideal,
            retrieved=len(ranking.keys),
        )


def ideal_gain(grades: Sequence[float], k: int, gain: str) -> float:
    """Return the discounted gain of *grades* in the best order, cut at *k*."""
    order = sorted(grades, key=gain_function(gain), reverse=True)
    ranks = range(1, len(order) + 1)
    return finite(dcg(JudgedQuery(ranks, order, ideal=order, retrieved=len(order)), k, gain=gain))


def finite(total: float) -> float:
    """Return *total*; raise InputError where that is beyond any float.

    >>> finite(1e308 * 10)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the grades are too large: their gain is beyond any floating number
    """
    if not isfinite(total):
        raise InputError("the grades are too large: their gain is beyond any floating number")
    return total
