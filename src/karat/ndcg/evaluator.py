"""The NDCG evaluator: a ranking and judgments in, a score per cut-off out."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, TypedDict

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.model.comparison import Comparison
from karat.ndcg.batch import Batch, estimates, truths_for
from karat.ndcg.histogram import recorder
from karat.ndcg.ranking import Judgments, KeyRanking, RankedItems, as_grade, read_ranking
from karat.ndcg.truth import GradeTable, finite, ideal_gain
from karat.ndcg.vectors.store import as_count
from karat.scoring.metrics import Measure, parse_all
from karat.scoring.metrics.gain import dcg, gain_function

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["NDCGEvaluator", "RankingComparison"]

logger = logging.getLogger("karat.ndcg")


class RankingComparison(TypedDict):
    """Two rankings of one query, and the change in percent; None from a baseline of 0."""

    baseline: dict[str, float]
    improved: dict[str, float]
    improvement: dict[str, float | None]


class NDCGEvaluator:
    """Scores rankings by NDCG at each of *k_values*.

    Conventions: gain is the grade itself over log2(rank + 1), or 2^grade - 1 with ``gain="exp"``;
    the ideal is made of all judgments, retrieved or not; a grade below 0 gains nothing, as does a
    key without a judgment. The given order is the ranking. A repeated key counts at its first
    place, and what follows moves up. Where nothing is relevant, NDCG is 0.

    *measures* adds others by name (``mrr``, ``ap``, ``recall@10``). *prometheus* records every
    evaluated ranking in the histogram ``vector_ndcg_avg`` of *registry*: None where the package is
    installed, True or MissingExtra, False never. The logger ``karat.ndcg`` says at level DEBUG
    which gains made a score.

    >>> evaluator = NDCGEvaluator(k_values=[1, 3])
    >>> evaluator.evaluate_ranking([{"key": "b"}, {"key": "a"}], {"a": 1.0, "b": 0.5})
    {'ndcg@1': 0.5, 'ndcg@3': 0.8597186998521972}
    """

    def __init__(
        self,
        k_values: Iterable[int] = (1, 3, 5, 10),
        *,
        gain: str = "linear",
        measures: Iterable[str] = (),
        prometheus: bool | None = None,
        registry: "CollectorRegistry | None" = None,
    ) -> None:
        """Check the settings; nothing is registered unless it will be recorded."""
        if not isinstance(k_values, Iterable):
            raise InputError(f"k_values is {k_values!r}; expected a list such as [1, 10]")
        self.k_values = tuple(dict.fromkeys(map(as_count, k_values)))
        if not self.k_values:
            raise InputError("k_values is empty; expected one cut-off or more, such as [1, 10]")
        gain_function(gain)
        self.gain = gain
        self._names = {k: f"ndcg@{k}" for k in self.k_values}
        self._others = [
            (str(measure), measure, measure.bind())
            for measure in parse_all(measures)
            if str(measure) not in self._names.values()
        ]
        self._record = recorder(prometheus, registry)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What an evaluation returns, in order; NDCG first."""
        cuts = [Measure("ndcg", k) for k in self.k_values]
        return (*cuts, *(measure for _, measure, _ in self._others))

    def dcg_at_k(self, relevance_scores: Sequence[float], k: int) -> float:
        """Return the discounted gain of the first *k* grades, given in ranked order.

        >>> round(NDCGEvaluator().dcg_at_k([0, 2, 1], k=10), 2)
        1.76
        """
        judged, cut = ranked_grades(relevance_scores), as_count(k)
        return finite(dcg(judged, cut, gain=self.gain))

    def idcg_at_k(self, relevance_scores: Sequence[float] | Judgments, k: int) -> float:
        """Return the gain of the best order of all the query's grades, cut at *k*.

        >>> round(NDCGEvaluator().idcg_at_k({"a": 1, "b": 0, "c": 2}, k=10), 2)
        2.63
        """
        cut = as_count(k)
        if isinstance(relevance_scores, Mapping):
            return GradeTable(relevance_scores).idcg(cut, self.gain)
        return ideal_gain(ranked_grades(relevance_scores).ideal, cut, self.gain)

    def ndcg_at_k(
        self,
        relevance_scores: Sequence[float],
        k: int,
        *,
        judgments: Sequence[float] | Judgments | None = None,
    ) -> float:
        """Return DCG / IDCG of grades in ranked order; 0 where nothing is relevant.

        *judgments* are all grades of the query. Without them the ranking is taken to hold every
        relevant item; if it does not, the score is too high.

        >>> evaluator = NDCGEvaluator()
        >>> evaluator.ndcg_at_k([1, 0], k=2)
        1.0
        >>> round(evaluator.ndcg_at_k([1, 0], k=2, judgments=[3, 1, 0]), 4)
        0.2754
        """
        ideal = self.idcg_at_k(relevance_scores if judgments is None else judgments, k)
        achieved = self.dcg_at_k(relevance_scores, k)
        if achieved > ideal * (1 + 1e-9):
            raise InputError(
                f"the ranking gains {achieved:g} at {k}, more than the {ideal:g} of all judgments; "
                "expected every relevant item among them"
            )
        return min(achieved / ideal, 1.0) if ideal else 0.0

    def evaluate_ranking(self, ranked_items: RankedItems, judgments: Judgments) -> dict[str, float]:
        """Return ``{"ndcg@k": score}`` of one ranking.

        *ranked_items* are records (``{"key": ..., "score": ...}``, or ``id``) or objects with such
        attributes, as a vector back end returns them; none is an empty answer and earns 0.
        """
        truth = GradeTable(judgments)
        if not truth.scorable:
            logger.warning("no judgment is positive: the scores are 0 and are not recorded")
        return self._scored(read_ranking(ranked_items), truth)

    def score(self, ranked_items: RankedItems, judgments: Judgments) -> dict[str, float] | None:
        """Return what :meth:`evaluate_ranking` does, or None where nothing is relevant."""
        truth, ranking = GradeTable(judgments), read_ranking(ranked_items)
        return self._scored(ranking, truth) if truth.scorable else None

    def compare_rankings(
        self, baseline: RankedItems, improved: RankedItems, judgments: Judgments
    ) -> RankingComparison:
        """Return the scores of two rankings of one query, and the change in percent.

        One query shows no more than itself; :meth:`compare_batch` says what is beyond chance.
        """
        truth = GradeTable(judgments)
        before = self._scored(read_ranking(baseline), truth)
        after = self._scored(read_ranking(improved), truth)
        return {
            "baseline": before,
            "improved": after,
            "improvement": {
                f"{name}_improvement_pct": percent_change(before[name], after[name])
                for name in before
            },
        }

    def evaluate_batch(
        self,
        rankings: Sequence[RankedItems],
        judgments: Judgments | Sequence[Judgments],
        *,
        level: float = 0.95,
        draws: int = 9_999,
        seed: int = 0,
    ) -> Batch:
        """Return the scores of many rankings, and each mean with its interval.

        *judgments* are one mapping for all rankings, or one per ranking; each ideal is computed
        once. A query without a positive judgment is counted, and left out of the means.
        """
        truths = truths_for(judgments, len(rankings))
        read = [read_ranking(ranking) for ranking in rankings]
        scores = tuple(
            self._scored(ranking, truth) if truth.scorable else None
            for ranking, truth in zip(read, truths, strict=True)
        )
        scored = [row for row in scores if row is not None]
        return Batch(
            scores=scores,
            means=estimates(scored, self.measures, level=level, draws=draws, seed=seed),
            unjudged=len(scores) - len(scored),
            duplicates=sum(ranking.duplicates for ranking in read),
        )

    def compare_batch(
        self,
        baseline: Sequence[RankedItems],
        improved: Sequence[RankedItems],
        judgments: Judgments | Sequence[Judgments],
        *,
        level: float = 0.95,
        draws: int = 9_999,
        seed: int = 0,
    ) -> Comparison:
        """Return the paired comparison of two systems over the same queries, with its tests.

        ``karat.scoring.stats.verdict`` puts it in words.
        """
        if len(baseline) != len(improved):
            raise InputError(
                f"got {len(baseline)} and {len(improved)} rankings; expected one pair per query"
            )
        from karat.scoring.stats import compare

        truths = truths_for(judgments, len(baseline))
        names = [str(measure) for measure in self.measures]
        nothing = dict.fromkeys(names, nan)
        rows = [
            [
                self._scored(read_ranking(ranking), truth) if truth.scorable else nothing
                for ranking, truth in zip(rankings, truths, strict=True)
            ]
            for rankings in (baseline, improved)
        ]
        return compare(
            [[[row[name] for name in names] for row in system] for system in rows],
            systems=["baseline", "improved"],
            metrics=names,
            bounds=[measure.bounds for measure in self.measures],
            level=level,
            draws=draws,
            seed=seed,
        )

    def _scored(self, ranking: KeyRanking, truth: GradeTable) -> dict[str, float]:
        """Return the scores of one ranking, and record them."""
        judged = truth.judge(ranking)
        scores = {}
        for k, name in self._names.items():
            ideal = truth.idcg(k, self.gain)
            achieved = dcg(judged, k, gain=self.gain)
            scores[name] = min(achieved / ideal, 1.0) if ideal else 0.0
            if logger.isEnabledFor(logging.DEBUG):
                self._explain(ranking, truth, (k, achieved, ideal))
            if self._record is not None and truth.scorable:
                self._record(k, scores[name])
        for name, _, score in self._others:
            scores[name] = score(judged)
        return scores

    def _explain(
        self, ranking: KeyRanking, truth: GradeTable, sums: tuple[int, float, float]
    ) -> None:
        k, achieved, ideal = sums
        gain_of = gain_function(self.gain)
        gains = [gain_of(truth.grades.get(key, 0.0)) for key in ranking.keys[:k]]
        logger.debug(
            "ndcg@%d: gains %s, DCG %.6f, IDCG %.6f; %d of %d keys judged, %d repeated",
            k,
            gains,
            achieved,
            ideal,
            sum(key in truth.grades for key in ranking.keys),
            len(ranking.keys),
            ranking.duplicates,
        )


def ranked_grades(relevance_scores: Sequence[float]) -> JudgedQuery:
    """Return grades in ranked order as a judged query whose judgments they all are."""
    grades = [
        as_grade(grade, f"the relevance at rank {rank}")
        for rank, grade in enumerate(relevance_scores, start=1)
    ]
    ideal = sorted(grades, reverse=True)
    return JudgedQuery(range(1, len(grades) + 1), grades, ideal=ideal, retrieved=len(grades))


def percent_change(before: float, after: float) -> float | None:
    """Return the change in percent; None from 0, where no percentage says anything.

    >>> percent_change(0.5, 0.75), percent_change(0.0, 1.0)
    (50.0, None)
    """
    return (after - before) / before * 100.0 if before else None
