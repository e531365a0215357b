"""Interleave two engines: users see both rankings mixed, and their clicks decide."""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from karat.engines.vectors.store import as_count
from karat.errors import InputError
from karat.ndcg.evaluator import RankedItems, read_ranking

if TYPE_CHECKING:
    from karat.scoring.stats.interleaving import Credit, InterleavedRanking, InterleavingTest

__all__ = ["InterleavedSearch"]

Query = TypeVar("Query")
Search = Callable[[Query, int], RankedItems]


class InterleavedSearch(Generic[Query]):
    """Team-draft interleaving of two engines, with a test of which one users prefer.

    *a* and *b* take a query and k and return ranked items, as a vector back end does. Both run
    every query, so the latency is that of both. The same *seed* and the same order of queries give
    the same answers.

    >>> def keyword(query, k):
    ...     return [{"key": "x"}, {"key": "y"}][:k]
    >>> def vector(query, k):
    ...     return [{"key": "y"}, {"key": "z"}][:k]
    >>> mixed = InterleavedSearch(keyword, vector, seed=1)
    >>> shown = mixed.search("how to win", k=2)
    >>> shown.ranking, shown.teams
    (('y', 'x'), ('b', 'a'))
    >>> mixed.record(shown, clicked=["y"]).winner
    'b'
    >>> mixed.result().wins_b
    1
    """

    def __init__(self, a: "Search[Query]", b: "Search[Query]", *, seed: int = 0) -> None:
        """Begin without answers."""
        from karat.scoring.stats.arrays import generator

        self._searches = (a, b)
        self._rng = generator(seed)
        self._credits: list[Credit] = []
        self._lock = Lock()

    def search(self, query: Query, k: int = 10) -> "InterleavedRanking[str]":
        """Return the first *k* keys of both engines, interleaved, each with its engine."""
        from karat.scoring.stats.interleaving import team_draft

        wanted = as_count(k)
        first, second = (read_ranking(search(query, wanted)).keys for search in self._searches)
        with self._lock:
            return team_draft(first, second, rng=self._rng, k=wanted)

    def record(self, shown: "InterleavedRanking[str]", clicked: Iterable[str]) -> "Credit":
        """Store and return the credits of both engines for one user's clicks on an answer.

        An answer without a click is a tie; record it as well, or the preference is overstated.
        """
        from karat.scoring.stats.interleaving import credit

        if isinstance(clicked, (str, bytes)):
            raise InputError(f"clicked is {clicked!r}, a string; expected a list of keys")
        earned = credit(shown, clicked)
        with self._lock:
            self._credits.append(earned)
        return earned

    def result(self, *, level: float = 0.95) -> "InterleavingTest":
        """Return the wins so far, with the share of A, its interval and the sign test.

        The p value holds for a number of answers that was settled before looking.
        """
        from karat.scoring.stats.interleaving import interleaving_test

        with self._lock:
            credits: Sequence[Credit] = list(self._credits)
        return interleaving_test(credits, level=level)
