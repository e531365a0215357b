"""What the axes of a matrix may hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from karat.corpus import create_chunker
from karat.engines.embedding.names import embedder_named
from karat.engines.rerank import check_reranker
from karat.errors import InputError, MissingExtra

__all__ = ["MODES", "faults"]

# The engine of each mode, and which axes it looks at.
MODES: Mapping[str, tuple[str, frozenset[str]]] = {
    "dense": ("dense", frozenset({"model"})),
    "sparse": ("bm25", frozenset()),
    "hybrid": ("hybrid", frozenset({"model", "rrf_k"})),
}
THRESHOLDS = "score_thresholds"


def faults(axis: str, values: Sequence[object]) -> Iterator[tuple[int | None, str]]:
    """Yield what is wrong with the *values* of *axis*, each with its place; None for all of them.

    >>> list(faults("top_k_values", [10, 0, 10]))
    [(1, '0 is out of range; expected 1 or more'), (2, '10 appears more than once')]
    """
    if not values and axis not in MAY_BE_EMPTY:
        yield None, "the list is empty"
    for place, value in enumerate(values):
        if value in values[:place]:
            yield place, f"{'null' if value is None else repr(value)} appears more than once"
        elif axis in CHECKS:
            try:
                CHECKS[axis](value)
            except (InputError, MissingExtra) as error:
                yield place, str(error)
    if axis == THRESHOLDS and {None, 0.0} <= set(values):
        yield None, "null and 0 both drop nothing; expected one of them"


def _mode(name: str) -> None:
    if name not in MODES:
        raise InputError(f"{name!r} is none of: {', '.join(MODES)}")


def _count(value: int) -> None:
    if value < 1:
        raise InputError(f"{value} is out of range; expected 1 or more")


def _threshold(value: float | None) -> None:
    if not 0.0 <= (value or 0.0) <= 1.0:
        raise InputError(f"{value} is out of range; expected 0 to 1, or null")


MAY_BE_EMPTY = frozenset({"k_values_for_metrics"})
CHECKS: Mapping[str, Callable[[Any], object]] = {
    "search_modes": _mode,
    "top_k_values": _count,
    "rrf_k_values": _count,
    THRESHOLDS: _threshold,
    "chunkers": create_chunker,
    "models": embedder_named,
    "rerankers": check_reranker,
    "k_values_for_metrics": _count,
    "primary_k": _count,
}
