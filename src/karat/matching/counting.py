"""How many scores are better than, and how many equal to, a few chosen ones."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence, ValuesView
from math import isfinite
from typing import TYPE_CHECKING

from karat.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = Collection[float] | NDArray[np.float64]

__all__ = ["NonFiniteScore", "standings"]

# An unordered list from this size on is counted as an array; up to that many chosen scores
# counting through the array costs less than sorting it.
ARRAY_FROM = 256
COUNT_UP_TO = 6


class NonFiniteScore(InputError):
    """A NaN or infinite score is among those to rank."""

    def __init__(self) -> None:
        super().__init__("a ranking has a score that is no finite number")


def standings(
    scores: "Scores", chosen: Sequence[float], *, float32: bool = False
) -> tuple[list[int], list[int]]:
    """Return for each *chosen* score the first rank it may have, and how many *scores* share it.

    A chosen score is one of *scores*; with *float32* all are rounded first.

    >>> standings([3.0, 1.0, 2.0, 2.0], [2.0, 1.0])
    ([2, 4], [2, 1])
    """
    if not isinstance(scores, list | ValuesView):
        return _in_array(scores, chosen, float32=float32)
    # A sum is the quickest test; only where it fails may large finite scores have overflowed it.
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
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as trec_eval 9 reads it
            values = values.astype(np.float32)
        chosen = array("f", chosen).tolist()
    if len(chosen) <= COUNT_UP_TO:
        first_ranks = [int(np.count_nonzero(values > score)) + 1 for score in chosen]
        return first_ranks, [int(np.count_nonzero(values == score)) for score in chosen]
    values = np.sort(values)
    wanted = np.asarray(chosen, values.dtype)
    above = values.searchsorted(wanted, "right")
    below = values.searchsorted(wanted, "left")
    return (len(values) - above + 1).tolist(), (above - below).tolist()
