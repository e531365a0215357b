"""Evaluation of a running search: the last rankings, their mean and its interval."""

from collections import deque
from dataclasses import dataclass
from threading import Lock

from karat.engines.vectors.store import as_count
from karat.ndcg.evaluator import Estimate, Judgments, NDCGEvaluator, RankedItems, estimates

__all__ = ["ScoreWindow", "StreamingEvaluator"]


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
        self._rows: deque[dict[str, float]] = deque(maxlen=as_count(window, "window"))
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
                self._rows.append(scores)
        return scores

    def __len__(self) -> int:
        return len(self._rows)

    def summary(self) -> ScoreWindow:
        """Return the means of the window with their intervals."""
        with self._lock:
            rows, seen, unjudged = list(self._rows), self._seen, self._unjudged
        means = estimates(
            rows,
            self.evaluator.measures,
            level=self._level,
            draws=self._draws,
            seed=self._seed,
        )
        return ScoreWindow(n=len(rows), seen=seen, unjudged=unjudged, means=means)
