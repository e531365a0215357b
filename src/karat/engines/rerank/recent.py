"""What was computed lately, within a bound."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Recent"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key; those used longest ago go when all together are larger than *most*.

    *make* computes the values of keys that are not there, several at once; *size* says how large
    one is. Several threads may ask; a value that two of them miss is made twice, and is the same.

    >>> squares = Recent(lambda keys: [key * key for key in keys], most=2, size=lambda value: 1)
    >>> squares.get([2, 3, 2]), squares.get([4]), len(squares)
    ([4, 9, 4], [16], 2)
    """

    def __init__(
        self,
        make: Callable[[Sequence[Key]], Sequence[Value]],
        *,
        most: int,
        size: Callable[[Value], int],
    ) -> None:
        """Begin empty."""
        self._make = make
        self._most = most
        self._size = size
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of values that are held."""
        return len(self._held)

    def get(self, keys: Sequence[Key]) -> list[Value]:
        """Return the value of each key."""
        with self._lock:
            found = {key: self._held[key] for key in keys if key in self._held}
            for key in found:
                self._held.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            made = dict(zip(missing, self._make(missing), strict=True))
            self._keep(made)
            found |= made
        return [found[key] for key in keys]

    def _keep(self, values: Mapping[Key, Value]) -> None:
        with self._lock:
            for key, value in values.items():
                if key not in self._held:
                    self._held[key] = value
                    self._total += self._size(value)
            while self._total > self._most:
                _, gone = self._held.popitem(last=False)
                self._total -= self._size(gone)
