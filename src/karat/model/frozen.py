"""An immutable mapping for fields and defaults of frozen records."""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, TypeVar

from karat.model.equality import same, value_hash

__all__ = ["EMPTY", "FrozenMapping"]

Key = TypeVar("Key")
Value_co = TypeVar("Value_co", covariant=True)


class FrozenMapping(Mapping[Key, Value_co]):
    """An immutable mapping that can be pickled; hashable if its values are.

    Unlike ``types.MappingProxyType`` it can be pickled and deep-copied. A FrozenMapping equals
    every mapping of the same content.

    >>> FrozenMapping({"lang": "en"}) == {"lang": "en"}
    True
    """

    __slots__ = ("_items",)

    _items: dict[Key, Value_co]

    def __init__(self, items: Mapping[Key, Value_co] | Iterable[tuple[Key, Value_co]] = ()) -> None:
        """Copy *items*, so that later changes of the original have no effect."""
        object.__setattr__(self, "_items", dict(items))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name!r}: a FrozenMapping does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a FrozenMapping does not change")

    def __getitem__(self, key: Key) -> Value_co:
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return same(self._items, other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(map(value_hash, self._items.items())))

    def __repr__(self) -> str:
        return f"FrozenMapping({self._items!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenMapping, (self._items,)) if self._items else (_empty, ())

    # The views of the dictionary are faster than those of the abstract class.
    def keys(self) -> KeysView[Key]:
        """Return a view of the keys."""
        return self._items.keys()

    def values(self) -> ValuesView[Value_co]:
        """Return a view of the values."""
        return self._items.values()

    def items(self) -> ItemsView[Key, Value_co]:
        """Return a view of the pairs of key and value."""
        return self._items.items()


# The default of optional mappings; every copy in any process is this object.
EMPTY: FrozenMapping[Any, Any] = FrozenMapping()


def _empty() -> FrozenMapping[Any, Any]:
    return EMPTY
