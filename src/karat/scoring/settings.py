"""Settings that scoring and comparing share: how to judge, and the confidence of results."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite

from karat.errors import InputError
from karat.model import Dataset
from karat.scoring.matching.modes import check_policy
from karat.scoring.metrics import Measure, parse_all

DEFAULT_MEASURES = ("ndcg@10", "mrr@10", "hit@5", "recall@10", "precision@5", "ap")
# Whole files win any overlap measure trivially, so line targets also report sizes.
LINE_MEASURES = ("line-precision@10", "line-iou@10", "lines@10", "tokens@10")


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a run is judged and measured.

    *measures* may be empty: the defaults are used, plus sizes if lines are matched. *ties* None is
    the rule of each run: the order of its engine, or that of trec_eval for a run file. *level* is
    the lowest relevant grade (0: any positive grade). *trec* averages as trec_eval does: over the
    queries that the run answers, including those without a relevant document. *strip_prefix* and
    *cut_at* change only the paths of the run: the first matching literal prefix is removed, and
    everything from the last occurrence of *cut_at*. *unit* is a sentence on why *match* is not the
    mode of the gold set, "" if the user chose it; see :mod:`karat.scoring.whole_files`.
    """

    measures: tuple[str, ...] = ()
    match: str | None = None
    ties: str | None = None
    level: float = 0.0
    judged_only: bool = False
    depth: int | None = None
    min_overlap: float = 0.0
    root: str = ""
    strip_prefix: tuple[str, ...] = ()
    cut_at: str = ""
    trec: bool = False
    unit: str = ""

    def __post_init__(self) -> None:
        """Reject invalid settings before anything is read."""
        if self.ties is not None:
            check_policy(self.ties)
        if not isfinite(self.level):
            raise InputError(f"level {self.level} is not a valid grade; expected a finite number")
        if self.measures and not parse_all(self.measures, level=self.level):
            raise InputError("empty measure; expected names such as ndcg@10")

    @property
    def respells(self) -> bool:
        """Return whether the paths of a run are changed before the comparison."""
        return bool(self.strip_prefix or self.cut_at)

    def parsed(self, truth: object = None) -> list[Measure]:
        """Return the measures to compute on *truth*."""
        names = self.measures
        if not names:
            names = DEFAULT_MEASURES
            if isinstance(truth, Dataset) and (self.match or truth.match) == "lines":
                names += LINE_MEASURES
        return parse_all(names, level=self.level)

    def with_measures(self, measures: Iterable[Measure]) -> "Scoring":
        """Return the same settings with other *measures*, each with its own level.

        >>> scoring = Scoring(("precision(level=0)@5", "hit@1"), level=2.0)
        >>> list(map(str, scoring.with_measures(scoring.parsed()).parsed()))
        ['precision@5', 'hit(level=2)@1']
        """
        return replace(self, measures=tuple(each.label for each in measures), level=0.0)


@dataclass(frozen=True, slots=True)
class Confidence:
    """How intervals and tests are computed; *draws* 0 turns them off.

    *cluster* names a tag whose values are resampled together. *pairs* is ``all``, ``baseline``
    (each run against the first) or ``lead`` (all pairs on the first measure, pairs with the first
    run on the others); None means all for up to twelve runs and lead for more. *correction* None
    means the default of *pairs*. *human_sample* makes numbers prediction-powered: a file with the
    queries that people judged, or ``auto`` for those that ``karat judge --next`` has drawn.
    """

    level: float = 0.95
    draws: int = 9_999
    seed: int = 0
    cluster: str | None = None
    pairs: str | None = None
    correction: str | None = None
    wilcoxon: bool = False
    human_sample: str | None = None

    def __post_init__(self) -> None:
        """Reject a negative seed."""
        if self.seed < 0:
            raise InputError(f"seed {self.seed} is negative; expected 0 or more")
