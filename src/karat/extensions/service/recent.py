"""The few values that were used last: results, judging pools, responses and indexes in memory."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentValues(Generic[Key, Value]):
    """An LRU cache of at most *size* values.

    >>> squares = RecentValues[int, int](2)
    >>> [squares.get(number, lambda: number**2) for number in (1, 2, 1, 3)], list(squares.values)
    ([1, 4, 1, 9], [1, 3])
    """

    def __init__(self, size: int) -> None:
        """Start empty."""
        self._size = size
        self.values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of *key*, made on a cache miss."""
        if key not in self.values:
            self.values[key] = make()
            while len(self.values) > self._size:
                self.values.popitem(last=False)
        self.values.move_to_end(key)
        return self.values[key]

    def forget(self, key: Key, value: Value) -> None:
        """Remove *key* if it still has this *value*."""
        if self.values.get(key) is value:
            del self.values[key]
