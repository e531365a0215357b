"""Names that must differ, and do not."""

from collections import Counter
from collections.abc import Iterable

__all__ = ["repeated"]


def repeated(names: Iterable[str]) -> list[str]:
    """Return those of *names* that are there more than once, in order of first appearance.

    >>> repeated(["b", "a", "c", "a", "b"])
    ['b', 'a']
    """
    return [name for name, count in Counter(names).items() if count > 1]
