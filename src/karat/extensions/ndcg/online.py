"""Evaluation of a running search: the last rankings, and two engines interleaved."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from karat.errors import InputError
from karat.extensions.ndcg.arguments import as_count
from karat.extensions.ndcg.evaluator import (
    Estimate,
    Judgments,
    NDCGEvaluator,
    RankedItems,
    estimates,
    read_ranking,
)

if TYPE_CHECKING:
    from karat.extensions.ndcg.stats.interleaving import (
        Credit,
        InterleavedRanking,
        InterleavingTest,
    )


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
        from karat.extensions.ndcg.stats.interleaving import team_draft

        k = as_count(k)
        first, second = (read_ranking(search(query, k)).keys for search in self._searches)
        with self._lock:
            return team_draft(first, second, rng=self._rng, k=k)

    def record(self, shown: "InterleavedRanking[str]", clicked: Iterable[str]) -> "Credit":
        """Store and return the credits of both engines for one user's clicks on an answer.

        An answer without a click is a tie; record it as well, or the preference is overstated.
        """
        from karat.extensions.ndcg.stats.interleaving import credit

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
        from karat.extensions.ndcg.stats.interleaving import interleaving_test

        with self._lock:
            credits: Sequence[Credit] = list(self._credits)
        return interleaving_test(credits, level=level)


@dataclass(frozen=True, slots=True)
class ScoreWindow:
    """The last *n* scored rankings; *seen* and *unjudged* count everything since the start."""

    n: int
    seen: int
    unjudged: int
    means: dict[str, Estimate]


class StreamingEvaluator:
    """Keeps the scores of the last *window* rankings; may be fed from several threads.

    Every ranking goes through *evaluator*, and so into its histogram. A ranking whose query has no
    positive judgment is counted and otherwise left out. An interval holds for one window; among
    many windows, some intervals will miss.

    >>> stream = StreamingEvaluator(NDCGEvaluator([1]), window=2)
    >>> for first in ("wrong", "right", "right"):
    ...     scores = stream.add([{"key": first}], {"right": 1.0})
    >>> found = stream.summary()
    >>> found.n, found.seen, found.means["ndcg@1"].mean
    (2, 3, 1.0)
    """

    def __init__(
        self,
        evaluator: NDCGEvaluator | None = None,
        *,
        window: int = 1_000,
        level: float = 0.95,
        draws: int = 1_999,
        seed: int = 0,
    ) -> None:
        """Begin with an empty window; *draws* and *seed* are those of the bootstrap.

        Fewer draws than elsewhere: a dashboard asks often, and reads two digits.
        """
        self.evaluator = evaluator or NDCGEvaluator()
        self._scores: deque[dict[str, float]] = deque(maxlen=as_count(window, "window"))
        self._level = level
        self._draws = draws
        self._seed = seed
        self._seen = 0
        self._unjudged = 0
        self._lock = Lock()

    def add(self, ranked_items: RankedItems, judgments: Judgments) -> dict[str, float] | None:
        """Evaluate one ranking and return its scores; None where nothing is relevant."""
        scores = self.evaluator.score(ranked_items, judgments)
        with self._lock:
            self._seen += 1
            if scores is None:
                self._unjudged += 1
            else:
                self._scores.append(scores)
        return scores

    def __len__(self) -> int:
        return len(self._scores)

    def summary(self) -> ScoreWindow:
        """Return the means of the window with their intervals."""
        with self._lock:
            scores, seen, unjudged = list(self._scores), self._seen, self._unjudged
        means = estimates(
            scores,
            self.evaluator.measures,
            level=self._level,
            draws=self._draws,
            seed=self._seed,
        )
        return ScoreWindow(n=len(scores), seen=seen, unjudged=unjudged, means=means)
