"""Measures by their definitions, slowly, with each convention as a setting."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import log2
from statistics import fmean

Grades = Mapping[str, int]
Hits = Sequence[tuple[str, float]]


def ordered(hits: Hits, by_id: str = "descending") -> list[str]:
    """Return the documents by descending score, equal ones by id."""
    alphabetical = sorted(hits, key=lambda hit: hit[0], reverse=by_id == "descending")
    return [document for document, _ in sorted(alphabetical, key=lambda hit: -hit[1])]


def over_all_orders(hits: Hits, measure: Callable[[list[str]], float]) -> float:
    """Return the mean of a measure over all orders of hits with one score."""
    return fmean(measure(list(order)) for order in permutations(document for document, _ in hits))


def relevant(grades: Grades) -> set[str]:
    return {document for document, grade in grades.items() if grade > 0}


def reciprocal_rank(ranking: Sequence[str], grades: Grades, k: int | None = None) -> float:
    for rank, document in enumerate(ranking[:k], 1):
        if document in relevant(grades):
            return 1 / rank
    return 0.0


def dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(
    ranking: Sequence[str],
    grades: Grades,
    k: int,
    *,
    gain: Callable[[int], float] = lambda grade: max(0, grade),
    cut_ideal: bool = True,
    returned_only: bool = False,
) -> float:
    gains = [gain(grades.get(document, 0)) for document in ranking[:k]]
    judged = [
        gain(grade)
        for document, grade in grades.items()
        if document in ranking or not returned_only
    ]
    ideal = sorted(judged, reverse=True)
    return dcg(gains) / dcg(ideal[:k] if cut_ideal else ideal)


def precision(ranking: Sequence[str], grades: Grades, k: int) -> float:
    return len(set(ranking[:k]) & relevant(grades)) / k


def recall(ranking: Sequence[str], grades: Grades, k: int) -> float:
    return len(set(ranking[:k]) & relevant(grades)) / len(relevant(grades))


def average_precision(ranking: Sequence[str], grades: Grades, k: int | None = None) -> float:
    precisions = [
        precision(ranking, grades, rank)
        for rank, document in enumerate(ranking[:k], 1)
        if document in relevant(grades)
    ]
    return sum(precisions) / len(relevant(grades))


def r_precision(ranking: Sequence[str], grades: Grades) -> float:
    return precision(ranking, grades, len(relevant(grades)))


def bpref(ranking: Sequence[str], grades: Grades) -> float:
    others = [document for document, grade in grades.items() if grade == 0]
    total, above = 0.0, 0
    for document in ranking:
        if document in others:
            above += 1
        elif document in relevant(grades):
            worst = min(len(relevant(grades)), len(others))
            total += 1 - (min(above, worst) / worst if worst else 0)
    return total / len(relevant(grades))


def err(ranking: Sequence[str], grades: Grades, k: int, highest: int) -> float:
    total, reading_on = 0.0, 1.0
    for rank, document in enumerate(ranking[:k], 1):
        satisfied = (2 ** max(0, grades.get(document, 0)) - 1) / 2**highest
        total += reading_on * satisfied / rank
        reading_on *= 1 - satisfied
    return total
