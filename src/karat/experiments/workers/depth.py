"""How deep an answer goes: how many hits it takes, and which of a deeper answer remain."""

from collections.abc import Iterable, Iterator, Sequence

from karat.engines.threshold import above
from karat.model import Hit

__all__ = ["cut", "first_files", "hits_needed", "next_depth"]

# The factor by which a search goes deeper if its hits are in too few files.
MORE = 4


def hits_needed(hits: Sequence[Hit], files: int) -> int:
    """Return how many of *hits* it takes to have one in each of as many *files* as wanted.

    It is one more than their number if they are in fewer files: a search of that depth has found
    all hits.

    >>> hits = [Hit("a.py"), Hit("a.py"), Hit("b.py"), Hit("c.py")]
    >>> [hits_needed(hits, files) for files in (1, 2, 4)]
    [1, 3, 5]
    """
    seen: set[str] = set()
    for place, hit in enumerate(hits, 1):
        seen.add(hit.path)
        if len(seen) == files:
            return place
    return len(hits) + 1


def next_depth(wanted: int, *, files: int) -> int:
    """Return the depth of the next search if hits in *files* files have needed *wanted* hits.

    >>> [next_depth(wanted, files=100) for wanted in (1, 100, 101, 1000)]
    [100, 100, 400, 1600]
    """
    depth = files
    while depth < wanted:
        depth *= MORE
    return depth


def first_files(hits: Iterable[Hit], files: int) -> Iterator[Hit]:
    """Yield *hits* up to the first one in the last of *files* files.

    Further hits in these files change no order of files, and how many there are would depend on
    how deep the search has gone.

    >>> hits = [Hit("a"), Hit("a"), Hit("b"), Hit("a"), Hit("c")]
    >>> [hit.path for hit in first_files(hits, 2)]
    ['a', 'a', 'b']
    """
    seen: set[str] = set()
    for hit in hits:
        seen.add(hit.path)
        yield hit
        if len(seen) == files:
            return


def cut(
    hits: Sequence[Hit],
    *,
    k: int,
    files: bool = False,
    threshold: float = 0.0,
    by_score: bool = False,
) -> tuple[Hit, ...]:
    """Return what is left of an answer for *k* hits, or hits in *k* *files*, above *threshold*.

    Both leave out the end of the answer, so that one search at the greatest depth serves all:
    its cut equals the hits of a search at the smaller depth. *by_score* is the result of
    ``karat.engines.threshold.by_score`` for the engine.

    >>> [hit.path for hit in cut([Hit("a", 8.0), Hit("b", 4.0), Hit("c", 1.0)], k=5, threshold=0.5)]
    ['a', 'b']
    """
    first = tuple(first_files(hits, k)) if files else tuple(hits[:k])
    if not threshold:
        return first
    return first[: above([hit.score for hit in first], threshold, by_score=by_score)]
