"""What is known of the query that is being answered, for engines that answer it together."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

__all__ = ["NOT_KEPT", "Current", "SupportsCurrent"]

Value = TypeVar("Value")


class _Held(NamedTuple):
    query: str
    values: dict[Hashable, object]


class Current:
    """Values by key for one query: what one engine has computed, the next one takes from here.

    The next query makes it forget, but not what was made ahead for the queries that it expects.
    Several threads may use it; a value that two of them miss is made twice. *keeps* False makes
    every other value anew, as an engine that is alone has to.

    >>> current = Current()
    >>> [current.once(query, "length", lambda: len(query)) for query in ("login", "login", "mail")]
    [5, 5, 4]
    """

    def __init__(self, *, keeps: bool = True) -> None:
        """Begin without a query."""
        self._keeps = keeps
        self._held = _Held("", {})
        # By key: the values of the queries that are expected.
        self._ahead: dict[Hashable, Mapping[str, object]] = {}

    def expect(
        self, queries: Sequence[str], key: Hashable, make: Callable[[], Iterable[object]]
    ) -> None:
        """Hold the value of *key* for each of *queries*, in place of those expected before.

        *make* computes all of them at once; who expects the same queries after another need not.

        >>> current = Current(keeps=False)
        >>> current.expect(["login", "mail"], "length", lambda: [5, 4])
        >>> current.once("mail", "length", lambda: 0)
        4
        """
        if self._ahead.get(key, {}).keys() != set(queries):
            self._ahead[key] = dict(zip(queries, make(), strict=True))

    def once(self, query: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of *key* for *query*; *make* computes it where it is not there."""
        ahead = self._ahead.get(key)
        if ahead and query in ahead:
            return ahead[query]  # type: ignore[return-value]
        if not self._keeps:
            return make()
        held = self._held
        if held.query != query:
            held = self._held = _Held(query, {})
        if key not in held.values:
            held.values[key] = make()
        return held.values[key]  # type: ignore[return-value]

    def forget(self) -> None:
        """Drop the values of the query that was asked last."""
        self._held = _Held("", {})


NOT_KEPT = Current(keeps=False)


@runtime_checkable
class SupportsCurrent(Protocol):
    """A part of an engine that computes something from the query which others need as well."""

    current: Current
