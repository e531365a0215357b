"""The NDCG evaluator: scores a ranking by judgments, at each cut-off."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeGuard
from weakref import WeakKeyDictionary

from karat.errors import InputError, MissingExtra
from karat.extensions.ndcg.arguments import as_count, as_key
from karat.model import JudgedQuery
from karat.model.comparison import Comparison, Interval
from karat.scoring.metrics import Measure, average, parse_all
from karat.scoring.metrics.gain import dcg, gain_function

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Histogram


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
                f"item {count} of the ranking, {name!r}: score {score!r} is not a finite number"
            )
        keys[name] = None
    return KeyRanking(tuple(keys), count - len(keys))


def read_judgments(judgments: Judgments) -> dict[str, float]:
    """Return grade by key, keys as text; raise InputError for a grade that is not a finite number.

    >>> read_judgments({"a": 1, 7: 0.5})
    {'a': 1.0, '7': 0.5}
    """
    if not isinstance(judgments, Mapping):
        raise InputError(f"the judgments are {judgments!r}; expected a mapping of keys to grades")
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


class GradeTable:
    """Grades by key; the ideal order and its gain at each cut are computed once.

    >>> truth = GradeTable({"a": 1.0, "b": 0.5})
    >>> truth.judge(KeyRanking(("x", "b"), 0)).ranks, round(truth.idcg(3, "linear"), 4)
    ([2], 1.3155)
    """

    __slots__ = ("_idcg", "grades", "ideal")

    def __init__(self, judgments: Judgments) -> None:
        """Read *judgments*."""
        self.grades = read_judgments(judgments)
        self.ideal = sorted(self.grades.values(), reverse=True)
        self._idcg: dict[tuple[int, str], float] = {}

    @property
    def scorable(self) -> bool:
        """Whether anything is relevant at all."""
        return bool(self.ideal) and self.ideal[0] > 0

    def idcg(self, k: int, gain: str) -> float:
        """Return the gain of all judgments in the best order, cut at *k*."""
        if (k, gain) not in self._idcg:
            self._idcg[k, gain] = ideal_gain(self.ideal, k, gain)
        return self._idcg[k, gain]

    def judge(self, ranking: KeyRanking) -> JudgedQuery:
        """Return the ranks and grades of the judged keys of *ranking*.

        Keys without a score are placed by their order alone, so that nothing has to be counted;
        the same as ``locate`` of karat.scoring.matching with scores that fall from first to last.
        """
        grades = self.grades
        hits = [
            (rank, grades[key]) for rank, key in enumerate(ranking.keys, start=1) if key in grades
        ]
        return JudgedQuery(
            [rank for rank, _ in hits],
            [grade for _, grade in hits],
            ideal=self.ideal,
            retrieved=len(ranking.keys),
        )


def ideal_gain(grades: Sequence[float], k: int, gain: str) -> float:
    """Return the discounted gain of *grades* in the best order, cut at *k*."""
    order = sorted(grades, key=gain_function(gain), reverse=True)
    ranks = range(1, len(order) + 1)
    return finite(dcg(JudgedQuery(ranks, order, ideal=order, retrieved=len(order)), k, gain=gain))


def finite(total: float) -> float:
    """Return *total*; raise InputError if it overflows a float.

    >>> finite(1e308 * 10)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the grades are too large: their gain overflows a float
    """
    if not isfinite(total):
        raise InputError("the grades are too large: their gain overflows a float")
    return total


class Estimate(NamedTuple):
    """A mean with its interval; the mean is None where nothing was scored."""

    mean: float | None
    interval: Interval


def estimates(
    rows: Sequence[Mapping[str, float]],
    measures: Sequence[Measure],
    *,
    level: float,
    draws: int,
    seed: int,
) -> dict[str, Estimate]:
    """Return the mean of each measure over *rows* with its bootstrap interval."""
    from karat.scoring.stats import bootstrap_intervals

    names = [str(measure) for measure in measures]
    columns = [[row[name] for name in names] for row in rows] or [[float("nan")] * len(names)]
    intervals = bootstrap_intervals(
        columns,
        bounds=[measure.bounds for measure in measures],
        level=level,
        draws=draws,
        seed=seed,
    )
    estimates = {}
    for name, interval in zip(names, intervals, strict=True):
        mean = average([row[name] for row in rows])
        estimates[name] = Estimate(None if isnan(mean) else mean, interval)
    return estimates


@dataclass(frozen=True, slots=True)
class Batch:
    """The scores of several rankings.

    ``scores`` has one entry per ranking, None for one whose query has no positive judgment; those
    are counted in ``unjudged`` and left out of ``means``. ``duplicates`` counts the repeated keys
    that were passed over.
    """

    scores: tuple[dict[str, float] | None, ...]
    means: dict[str, Estimate]
    unjudged: int
    duplicates: int


def truths_for(judgments: Judgments | Sequence[Judgments], rankings: int) -> list[GradeTable]:
    """Return the truth of each ranking; judgments that several share are read once.

    One mapping serves all rankings; of a sequence each ranking has its own entry.
    """
    if isinstance(judgments, Mapping):
        return [GradeTable(judgments)] * rankings
    if len(judgments) != rankings:
        raise InputError(
            f"got {rankings} rankings and judgments for {len(judgments)}; expected judgments for "
            "each ranking"
        )
    read: dict[int, GradeTable] = {}
    for entry in judgments:
        # The same object, not an equal one: comparing would cost more than reading.
        if id(entry) not in read:
            read[id(entry)] = GradeTable(entry)
    return [read[id(entry)] for entry in judgments]


# The first counts exact zeros: rankings that found nothing.
BUCKETS = tuple(step / 10 for step in range(11))

_histograms: "WeakKeyDictionary[CollectorRegistry, Histogram]" = WeakKeyDictionary()
_lock = Lock()


def vector_ndcg_avg(registry: "CollectorRegistry | None" = None) -> "Histogram":
    """Return the histogram of *registry* (Prometheus' own without one), registered only once.

    Label ``k`` is the cut-off. Raise MissingExtra without prometheus_client.
    """
    try:
        from prometheus_client import REGISTRY, Histogram
    except ImportError as missing:
        raise MissingExtra(
            "prometheus-client", extra="prometheus", purpose="the histogram vector_ndcg_avg"
        ) from missing
    registry = REGISTRY if registry is None else registry
    with _lock:
        known = _histograms.get(registry)
        if known is not None:
            return known
        try:
            made = Histogram(
                "vector_ndcg_avg",
                "NDCG of evaluated rankings, by cut-off k.",
                labelnames=["k"],
                buckets=BUCKETS,
                registry=registry,
            )
        except ValueError:
            raise InputError(
                "the registry has another metric named vector_ndcg_avg; pass another registry, or "
                "prometheus=False"
            ) from None
        _histograms[registry] = made
        return made


def recorder(
    enabled: bool | None, registry: "CollectorRegistry | None"
) -> Callable[[int, float], None] | None:
    """Return a function that records (k, ndcg); None if not *enabled* or not installed."""
    if enabled is False:
        return None
    try:
        histogram = vector_ndcg_avg(registry)
    except MissingExtra:
        if enabled:
            raise
        return None

    def record(k: int, value: float) -> None:
        histogram.labels(k=str(k)).observe(value)

    return record


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
        """The measures of an evaluation, in order; NDCG first."""
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
                "expected judgments of all relevant items"
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

        One query proves nothing; :meth:`compare_batch` has significance tests.
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
    """Return the change in percent; None from 0, where a percentage is undefined.

    >>> percent_change(0.5, 0.75), percent_change(0.0, 1.0)
    (50.0, None)
    """
    return (after - before) / before * 100.0 if before else None
