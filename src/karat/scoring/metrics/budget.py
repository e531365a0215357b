"""Cut-offs in tokens: a reader reads the hits in order until the next one would be too much."""

from collections.abc import Callable
from functools import partial
from math import nan

from karat.model import JudgedQuery
from karat.scoring.metrics.definition import Metric, Value


def hits_within_budget(judged: JudgedQuery, budget: int) -> int | None:
    """Return how many of the first hits fit into *budget* tokens, None if it is unknown.

    A hit fits as a whole or not at all, and the first one that does not fit is the end.

    >>> from karat.model.judged import Sizes
    >>> sizes = Sizes([-1] * 3, [-1] * 3, [-1] * 3, [400, 700, 100], -1)
    >>> query = JudgedQuery([2], [1], ideal=[1], retrieved=3, sizes=sizes)
    >>> [hits_within_budget(query, budget) for budget in (399, 1000, 1100, 9999)]
    [0, 1, 2, 3]
    """
    if judged.sizes is None:
        return None
    read = 0
    sizes = judged.sizes.tokens[: judged.retrieved]
    for count, tokens in enumerate(sizes):
        if tokens < 0:
            return None
        read += tokens
        if read > budget:
            return count
    return len(sizes)


def within_budget(
    metric: Metric, budget: int, params: dict[str, Value]
) -> Callable[[JudgedQuery], float]:
    """Return *metric* of the hits that fit into *budget* tokens, as a function of a judged query.

    It is relative to all targets, so that more tokens never lower it, except for a metric with a
    required cut-off: that one is of as many hits as fit, and 0 if none does. NaN means that the
    tokens are unknown.
    """
    score = partial(metric.score, **params)
    if metric.cut == "required":
        return lambda judged: _of_fitting(judged, budget, score)
    return lambda judged: _cut(judged, budget, score)


def _of_fitting(judged: JudgedQuery, budget: int, score: Callable[..., float]) -> float:
    hits = hits_within_budget(judged, budget)
    if hits is None:
        return nan
    return score(judged.first(hits), hits) if hits else 0.0


def _cut(judged: JudgedQuery, budget: int, score: Callable[..., float]) -> float:
    hits = hits_within_budget(judged, budget)
    return nan if hits is None else score(judged.first(hits))
