"""What is known of the query that is being answered, for engines that answer it together."""

from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

__all__ = ["NOT_KEPT", "Current", "SupportsCurrent"]

Value = TypeVar("Value")


class _Held(NamedTuple):
    query: str
    values: dict[Hashable, object]


class Current:
    """Values by key for one query: what one engine has computed, the next one takes from here.

    The next query makes it forget. Several threads may use it; a value that two of them miss is
    made twice. *keeps* False makes every value anew, as an engine that is alone has to.

    >>> current = Current()
    >>> [current.once(query, "length", lambda: len(query)) for query in ("login", "login", "mail")]
    [5, 5, 4]
    """

    def __init__(self, *, keeps: bool = True) -> None:
        """Begin without a query."""
        self._keeps = keeps
        self._held = _Held("", {})

    def once(self, query: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of *key* for *query*; *make* computes it where it is not there."""
        if not self._keeps:
            return make()
        held = self._held
        if held.query != query:
            held = self._held = _Held(query, {})
        if key not in held.values:
            held.values[key] = make()
        return held.values[key]  # type: ignore[return-value]

    def forget(self) -> None:
        """Drop all values, as if nothing had been asked."""
        self._held = _Held("", {})


NOT_KEPT = Current(keeps=False)


@runtime_checkable
class SupportsCurrent(Protocol):
    """A part of an engine that computes something from the query which others need as well."""

    current: Current
