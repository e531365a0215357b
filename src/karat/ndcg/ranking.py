"""Rankings and judgments as people hand them over, read once and checked."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeGuard

from karat.errors import InputError
from karat.ndcg.vectors.store import as_key

__all__ = ["Judgments", "KeyRanking", "RankedItems", "as_grade", "read_judgments", "read_ranking"]

# Records with `key` or `id`, or objects with such attributes; Any, since a Protocol could not say
# "one of two attributes".
RankedItems = Iterable[Any]
Judgments = Mapping[Any, float]


class KeyRanking(NamedTuple):
    """The keys of a ranking, best first, each at its first rank; and how many were repeated."""

    keys: tuple[str, ...]
    duplicates: int


def read_ranking(ranked_items: RankedItems) -> KeyRanking:
    """Return the keys of *ranked_items* in the order given, which is the ranking.

    An item is a record or an object with ``key``, or else ``id``. A ``score`` is optional; it must
    be a finite number, and does not change the order.

    >>> read_ranking([{"key": "b", "score": 0.9}, {"id": "a"}, {"key": "b"}])
    KeyRanking(keys=('b', 'a'), duplicates=1)
    """
    if isinstance(ranked_items, (str, bytes, Mapping)) or not isinstance(ranked_items, Iterable):
        raise InputError(f"the ranking is {ranked_items!r}; expected a list of items")
    keys: dict[str, None] = {}
    count = 0
    for count, item in enumerate(ranked_items, start=1):
        key = field(item, "key")
        if key is None:
            key = field(item, "id")
        if key is None:
            raise InputError(f"item {count} of the ranking is {item!r}; expected key or id")
        name = as_key(key, f"item {count} of the ranking")
        score = field(item, "score")
        if score is not None and not is_finite_number(score):
            raise InputError(
                f"item {count} of the ranking, {name!r}: score {score!r} is no finite number"
            )
        keys[name] = None
    return KeyRanking(tuple(keys), count - len(keys))


def read_judgments(judgments: Judgments) -> dict[str, float]:
    """Return grade by key, keys as text; raise InputError for a grade that is no finite number.

    >>> read_judgments({"a": 1, 7: 0.5})
    {'a': 1.0, '7': 0.5}
    """
    if not isinstance(judgments, Mapping):
        raise InputError(f"the judgments are {judgments!r}; expected key and grade")
    grades: dict[str, float] = {}
    for key, grade in judgments.items():
        name = as_key(key, "judgments")
        if name in grades:
            raise InputError(f"judgments: key {name!r} is given twice, as text and as a number")
        grades[name] = as_grade(grade, f"the judgment of {name!r}")
    return grades


def as_grade(grade: object, where: str) -> float:
    """Return *grade* as a float, or raise InputError that begins with *where*."""
    if not is_finite_number(grade):
        raise InputError(f"{where} is {grade!r}; expected a finite number")
    return float(grade)


def is_finite_number(value: object) -> TypeGuard[float]:
    """Return whether *value* is a number, of Python or numpy, neither NaN nor infinite."""
    if isinstance(value, (str, bytes, bytearray)):
        return False
    try:
        return isfinite(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def field(item: object, name: str) -> Any:
    """Return the entry or the attribute *name* of *item*, None without one."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
