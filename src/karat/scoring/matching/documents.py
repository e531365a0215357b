"""Judge a scored ranking of documents by counting instead of sorting.

A metric needs only the ranks of judged documents, and a rank is one plus the number of better
scores. An unjudged document costs only reading its score. See design/0002.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, ValuesView
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.matching.modes import as_float32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = Collection[float] | NDArray[np.float64]


# Unordered lists of this size or more are counted as an array; up to that many chosen scores,
# counting costs less than sorting.
ARRAY_FROM = 256
COUNT_UP_TO = 6


class NonFiniteScore(InputError):
    """A score to rank is NaN or infinite."""

    def __init__(self) -> None:
        super().__init__("a ranking has a score that is not a finite number")


def count_ranks(
    scores: "Scores", chosen: Sequence[float], *, float32: bool = False
) -> tuple[list[int], list[int]]:
    """Return for each *chosen* score its first possible rank and how many *scores* share it.

    A chosen score is one of *scores*; with *float32* all are rounded first.

    >>> count_ranks([3.0, 1.0, 2.0, 2.0], [2.0, 1.0])
    ([2, 4], [2, 1])
    """
    if not isinstance(scores, list | ValuesView):
        return _in_array(scores, chosen, float32=float32)
    # A sum is the fastest test; if it is not finite, large finite scores may have overflowed it.
    values = list(scores) if chosen else []
    if not isfinite(sum(values or scores)) and not all(map(isfinite, scores)):
        raise NonFiniteScore
    if not chosen:
        return [], []
    size = len(values)
    if size >= ARRAY_FROM and not values[0] >= values[1] >= values[size // 2] >= values[-1]:
        return _in_array(values, chosen, float32=float32)
    if float32:
        values = array("f", values).tolist()
        chosen = array("f", chosen).tolist()
    # Most rankings are returned best first: turned round they ascend, and timsort walks through
    # them once.
    values.reverse()
    values.sort()
    first_ranks = []
    shared = []
    for score in chosen:
        end = bisect_right(values, score)
        first_ranks.append(size - end + 1)
        if end > 1 and values[end - 2] == values[end - 1]:
            shared.append(end - bisect_left(values, values[end - 1], 0, end))
        else:
            shared.append(1)
    return first_ranks, shared


def _in_array(
    scores: "Scores", chosen: Sequence[float], *, float32: bool
) -> tuple[list[int], list[int]]:
    import numpy as np

    if isinstance(scores, np.ndarray):
        values = scores
        if not np.isfinite(values).all():
            raise NonFiniteScore
    else:
        values = np.fromiter(scores, np.float64, len(scores))
    if float32:
        with np.errstate(
            over="ignore"
        ):  # values beyond float32 are infinite, as trec_eval 9 reads them
            values = values.astype(np.float32)
        chosen = array("f", chosen).tolist()
    if len(chosen) <= COUNT_UP_TO:
        first_ranks = [int(np.count_nonzero(values > score)) + 1 for score in chosen]
        return first_ranks, [int(np.count_nonzero(values == score)) for score in chosen]
    values = np.sort(values)
    chosen_array = np.asarray(chosen, values.dtype)
    above = values.searchsorted(chosen_array, "right")
    below = values.searchsorted(chosen_array, "left")
    return (len(values) - above + 1).tolist(), (above - below).tolist()


FEW = 3


class DecodesIds(Protocol):
    """A mapping of scores that can return the ids of one score without decoding all ids."""

    def ids_with_score(self, score: float, /) -> Sequence[str]:
        """Return the ids of the documents with exactly *score*, in the order returned."""
        ...


def judge_ranking(
    judgments: Mapping[str, float],
    scores: Mapping[str, float],
    *,
    ties: str = "trec10",
    judged_only: bool = False,
    depth: int | None = None,
) -> JudgedQuery:
    """Return the judged query of one ranking with finite scores.

    Only the values of *scores*, the judged documents and the ids of tied scores are read; a mapping
    with ``ids_with_score`` need not decode any other id. *depth* drops all documents below that
    rank. *judged_only* then ranks the judged documents among themselves; trec_eval applies ``-M``
    and ``-J`` in the same order. A grade below 0 means pooled but unjudged.

    >>> judge_ranking({"a": 2, "b": 1}, {"x": 9.0, "a": 7.0, "y": 7.0}).ranks
    [3]
    """
    if judged_only and depth is not None and depth < len(scores):
        return _thinned(judge_ranking(judgments, scores, ties=ties, depth=depth))
    documents = [document for document in judgments if document in scores]
    if judged_only:
        documents = [document for document in documents if judgments[document] >= 0]
    chosen = list(map(scores.__getitem__, documents))
    grades = list(map(judgments.__getitem__, documents))
    if judged_only:
        if ties == "order":
            # Equal scores come in the order returned, not in that of the judgments.
            position = {
                document: _ids_with_score(scores, score).index(document)
                for document, score in zip(documents, chosen, strict=True)
            }
            documents.sort(key=position.__getitem__)
            grades = [judgments[document] for document in documents]
            chosen = [scores[document] for document in documents]
        scores = dict(zip(documents, chosen, strict=True))
    retrieved = len(scores)
    ranks, equal = count_ranks(scores.values(), chosen, float32=ties == "trec9")
    spans = None
    tied = False
    if len(ranks) < sum(equal):
        if ties == "expected":
            spans = [(first, first + count - 1) for first, count in zip(ranks, equal, strict=True)]
        tied = _break_ties(ranks, grades, documents, equal, scores, ties=ties)
    if len(ranks) > 1:
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        ranks = [ranks[index] for index in order]
        grades = [grades[index] for index in order]
        spans = spans and [spans[index] for index in order]
    if depth is not None and depth < retrieved:
        if spans:
            raise InputError("a depth cannot cut through ties under the tie policy 'expected'")
        retrieved = depth
        within = bisect_right(ranks, depth)
        ranks, grades = ranks[:within], grades[:within]
    ideal = sorted(judgments.values(), reverse=True)
    return JudgedQuery(ranks, grades, ideal=ideal, retrieved=retrieved, spans=spans, tied=tied)


def _thinned(judged: JudgedQuery) -> JudgedQuery:
    """Return *judged* with only its judged hits, ranked from 1."""
    grades = [grade for grade in judged.grades if grade >= 0]
    ranks = list(range(1, len(grades) + 1))
    return JudgedQuery(ranks, grades, ideal=judged.ideal, retrieved=len(grades), tied=judged.tied)


def _break_ties(
    ranks: list[int],
    grades: Sequence[float],
    documents: Sequence[str],
    equal: Sequence[int],
    scores: Mapping[str, float],
    *,
    ties: str,
) -> bool:
    """Move each tied rank to its position under *ties*; return whether that can change a metric.

    It can if a tie has a relevant document and one of another grade, or an unjudged one.
    """
    groups: dict[int, list[int]] = {}
    for index, count in enumerate(equal):
        if count > 1:
            groups.setdefault(ranks[index], []).append(index)
    matters = False
    for members in groups.values():
        tied_grades = {grades[index] for index in members}
        unjudged = equal[members[0]] - len(members)
        if max(tied_grades) > 0 and (len(tied_grades) > 1 or unjudged > 0):
            matters = True
            break
    if ties in ("best", "worst", "expected"):
        # Expected scores come from the spans; ties that do not matter still need ranks.
        _by_luck(ranks, grades, equal, groups.values(), best=ties != "worst")
    else:
        tied_ids = _tied_ids(scores, groups=len(groups), float32=ties == "trec9")
        for first, members in groups.items():
            tied = tied_ids(scores[documents[members[0]]], first, equal[members[0]])
            if ties != "order":
                tied = sorted(tied, reverse=True)
            for index in members:
                ranks[index] = first + tied.index(documents[index])
    return matters


def _by_luck(
    ranks: list[int],
    grades: Sequence[float],
    equal: Sequence[int],
    groups: Iterable[list[int]],
    *,
    best: bool,
) -> None:
    """Put the higher grades of each tie first, or last; unjudged documents go to the other end."""
    for members in groups:
        ordered = sorted(members, key=grades.__getitem__, reverse=best)
        unjudged = equal[members[0]] - len(members)
        for position, index in enumerate(ordered, 0 if best else unjudged):
            ranks[index] += position


def _tied_ids(
    scores: Mapping[str, float], *, groups: int, float32: bool
) -> Callable[[float, int, int], Sequence[str]]:
    """Return a function that finds the ids of a score from its first rank and the size of the tie.

    In a ranking that is returned in rank order, they are adjacent at that rank.
    """
    if float32:

        def rounded(score: float, _first: int, _count: int) -> Sequence[str]:
            rounded_score = as_float32(score)
            same = {other for other in scores.values() if as_float32(other) == rounded_score}
            return [document for other in same for document in _ids_with_score(scores, other)]

        return rounded
    if not isinstance(scores, dict):
        return lambda score, _first, _count: _ids_with_score(scores, score)
    # Walking to a rank is cheaper than a copy, unless there are many ranks to walk to.
    ids = list(scores) if groups > FEW else None

    def together(score: float, first: int, count: int) -> Sequence[str]:
        start, stop = first - 1, first - 1 + count
        adjacent = ids[start:stop] if ids else list(islice(scores, start, stop))
        if all(scores[document] == score for document in adjacent):
            return adjacent
        return _ids_with_score(scores, score)

    return together


def _ids_with_score(scores: Mapping[str, float], score: float) -> Sequence[str]:
    decoder: DecodesIds | None = scores if hasattr(scores, "ids_with_score") else None
    if decoder is not None:
        return decoder.ids_with_score(score)
    return [document for document, other in scores.items() if other == score]
