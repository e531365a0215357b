"""How many hits it takes to have some in enough files."""

from collections.abc import Iterable, Iterator, Sequence

from karat.model import Hit

__all__ = ["MORE", "enough", "of_first_files"]

# How many times more hits are asked for where those that came are in too few files.
MORE = 4


def enough(hits: Sequence[Hit], *, asked: int, files: int) -> bool:
    """Say whether *hits* are in as many *files* as wanted, or all that there are.

    >>> enough([Hit("a.py", 2.0, 1, 1), Hit("a.py", 1.0, 2, 2)], asked=2, files=2)
    False
    """
    return len(hits) < asked or len({hit.path for hit in hits}) >= files


def of_first_files(hits: Iterable[Hit], files: int) -> Iterator[Hit]:
    """Yield *hits* up to the first in a file too many."""
    seen: set[str] = set()
    for hit in hits:
        seen.add(hit.path)
        if len(seen) > files:
            return
        yield hit
