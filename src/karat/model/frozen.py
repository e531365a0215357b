"""Immutable mappings, coded columns, and equality by value."""

from array import array
from collections import Counter
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, fields, is_dataclass
from math import isnan, nan
from operator import attrgetter
from typing import Any, TypeVar, overload

Record = TypeVar("Record", bound=type)


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column of strings: ``names[codes[row]]`` is the string of a row."""

    codes: "array[int]"
    names: tuple[str, ...]

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        """Return the string of *row*, or those of a slice."""
        if isinstance(row, slice):
            return [self.names[code] for code in self.codes[row]]
        return self.names[self.codes[row]]


def encode(values: Iterable[str]) -> CodedColumn:
    """Return *values* as codes, numbered in order of first appearance.

    >>> encode(["a.py", "b.py", "a.py"])
    CodedColumn(codes=array('i', [0, 1, 0]), names=('a.py', 'b.py'))
    """
    numbers: dict[str, int] = {}
    codes = array("i", [numbers.setdefault(value, len(numbers)) for value in values])
    return CodedColumn(codes, tuple(numbers))


def repeated(names: Iterable[str]) -> list[str]:
    """Return the *names* that occur more than once, in order of first appearance.

    >>> repeated(["b", "a", "c", "a", "b"])
    ['b', 'a']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def same(left: object, right: object) -> bool:
    """Return whether two values are equal, where NaN equals NaN at any depth.

    Looks into arrays, mappings, lists and tuples; everything else is compared by ``==``.

    >>> same({"nDCG@10": (0.5, float("nan"))}, {"nDCG@10": (0.5, float("nan"))})
    True
    """
    if isinstance(left, array) and isinstance(right, array):
        return _same_column(left, right)
    if left is right or left == right:
        return True
    if isinstance(left, float) and isinstance(right, float):
        return isnan(left) and isnan(right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and type(left) is type(right):
        return _same_items(left, right)
    return False


def _same_column(left: "array[Any]", right: "array[Any]") -> bool:
    if left.typecode == right.typecode and left.tobytes() == right.tobytes():
        return True
    # Equal numbers may have different bytes, such as 0.0 and -0.0.
    return _same_items(left, right)


def _same_items(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(map(same, left, right))


def value_hash(values: Iterable[object]) -> int:
    """Return a hash of *values* that is equal if :func:`same` is true."""
    return hash(tuple(map(_settled, values)))


def by_value(record: Record) -> Record:
    """Give a frozen dataclass or a NamedTuple equality by :func:`same`, and a matching hash.

    A record is hashable if all of its fields are. A NamedTuple may define a faster hash itself. A
    dataclass is declared with ``eq=False``: methods that are replaced here need not be made first,
    which takes a third of the time of its import.

    >>> from typing import NamedTuple
    >>> @by_value
    ... class Score(NamedTuple):
    ...     value: float
    >>> Score(float("nan")) == Score(float("nan"))
    True
    >>> len({Score(float("nan")), Score(float("nan"))})
    1
    """
    methods = _of_dataclass(record) if is_dataclass(record) else _of_tuple(record)
    for name, method in methods.items():
        setattr(record, name, method)
    return record


def _of_dataclass(record: type) -> dict[str, Callable[..., Any]]:
    names = [field.name for field in fields(record)]
    # A single name would give the bare value instead of a tuple.
    values: Callable[[object], tuple[object, ...]] = attrgetter(*names, "__class__")

    def equal(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or all(map(same, values(self), values(other)))

    return {"__eq__": equal, "__hash__": lambda self: value_hash(values(self))}


def _of_tuple(record: type) -> dict[str, Callable[..., Any]]:
    def equal(self: tuple[object, ...], other: object) -> bool:
        verdict = tuple.__eq__(self, other)
        if verdict is False and type(other) is type(self):
            return all(map(same, self, other))
        return verdict

    def unequal(self: tuple[object, ...], other: object) -> bool:
        is_equal = equal(self, other)
        return is_equal if is_equal is NotImplemented else not is_equal

    # Unlike object, tuple has a != of its own that does not call ==.
    return {
        "__eq__": equal,
        "__ne__": unequal,
        "__hash__": vars(record).get("__hash__", value_hash),
    }


def _settled(value: object) -> object:
    """Return *value* with each NaN replaced by one object, because NaN is hashed by identity."""
    if type(value) is float:
        return nan if isnan(value) else value
    if type(value) is tuple:
        return tuple(map(_settled, value))
    return value


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
