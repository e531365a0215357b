"""Line ranges of one file as sorted, disjoint, inclusive intervals."""

from collections.abc import Iterable

__all__ = ["merge", "overlap", "size"]

Span = tuple[int, int]


def merge(spans: Iterable[Span]) -> list[Span]:
    """Return the union of *spans* as disjoint intervals in order.

    >>> merge([(5, 9), (1, 3), (4, 6)])
    [(1, 9)]
    """
    merged: list[Span] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def overlap(left: Iterable[Span], right: Iterable[Span]) -> list[Span]:
    """Return the lines that both unions hold.

    >>> overlap([(1, 9)], [(3, 4), (8, 12)])
    [(3, 4), (8, 9)]
    """
    return [(max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) <= min(b, d)]


def size(spans: Iterable[Span]) -> int:
    """Return the number of lines in disjoint *spans*."""
    return sum(last - first + 1 for first, last in spans)
