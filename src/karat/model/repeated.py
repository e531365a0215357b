"""Find duplicate names."""

from collections import Counter
from collections.abc import Iterable

__all__ = ["repeated"]


def repeated(names: Iterable[str]) -> list[str]:
    """Return the *names* that occur more than once, in order of first appearance.

    >>> repeated(["b", "a", "c", "a", "b"])
    ['b', 'a']
    """
    return [name for name, count in Counter(names).items() if count > 1]
