"""A bounded cache of recently used values."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from threading import Lock
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

__all__ = ["Recent", "SupportsApart"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@runtime_checkable
class SupportsApart(Protocol):
    """A cache with separate views, so that users do not reuse each other's values."""

    def apart(self) -> Self:
        """Return a view of the same cache where values that others stored count as misses."""
        ...


class _Shelf(Generic[Key, Value]):
    """The values, within a bound."""

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        self.lock = Lock()
        self.held: OrderedDict[Key, Value] = OrderedDict()
        self.total = 0
        self._most = most
        self._size = size

    def keep(self, values: Mapping[Key, Value]) -> None:
        with self.lock:
            for key, value in values.items():
                if key not in self.held:
                    self.held[key] = value
                    self.total += self._size(value)
            while self.total > self._most:
                _, gone = self.held.popitem(last=False)
                self.total -= self._size(gone)


class Recent(Generic[Key, Value]):
    """An LRU cache; the least recently used values are evicted above the total size *most*.

    *make* computes the values of keys that are not there, several at once; *size* says how large
    one is. It is thread-safe; a value that two threads miss is computed twice.

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
        """Start empty."""
        self._make = make
        self._shelf: _Shelf[Key, Value] = _Shelf(most, size)
        # The hashes of the keys that this view has requested; None if all stored values count.
        self._asked: set[int] | None = None

    def __len__(self) -> int:
        """Return the number of values that are held."""
        return len(self._shelf.held)

    def apart(self) -> "Recent[Key, Value]":
        """Return a view that computes its misses and stores nothing twice.

        Engines that are timed in one process then take the memory of one, without shared hits.
        """
        other = copy(self)
        other._asked = set()  # noqa: SLF001 - a copy of this one
        return other

    def get(self, keys: Sequence[Key]) -> list[Value]:
        """Return the value of each key."""
        held = self._shelf.held
        with self._shelf.lock:
            cached = {key: held[key] for key in keys if key in held and self._knows(key)}
            for key in cached:
                held.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in cached]
        if missing:
            made = dict(zip(missing, self._make(missing), strict=True))
            self._shelf.keep(made)
            if self._asked is not None:
                self._asked.update(map(hash, missing))
            cached |= made
        return [cached[key] for key in keys]

    def _knows(self, key: Key) -> bool:
        return self._asked is None or hash(key) in self._asked
