"""Settings that scoring and comparing share: how to judge, and the confidence of results."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite

from karat.errors import InputError
from karat.model import Dataset
from karat.model.dataset import COMPARED_BY
from karat.model.settings import setting
from karat.scoring.matching.modes import MATCHERS, TIE_POLICIES, check_policy
from karat.scoring.metrics import Measure, parse_all

DEFAULT_MEASURES = ("ndcg@10", "mrr@10", "hit@5", "recall@10", "precision@5", "ap")
# Whole files win any overlap measure trivially, so line targets also report sizes.
LINE_MEASURES = ("line-precision@10", "line-iou@10", "lines@10", "tokens@10")


def compared_by(truth: object) -> tuple[str, ...]:
    """Return the usual measures if the targets of *truth* are the hits of a run, else none."""
    if not isinstance(truth, Dataset):
        return ()
    names: tuple[str, ...] = truth.metadata.get(COMPARED_BY, ())  # type: ignore[assignment]
    return names


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

    measures: tuple[str, ...] = setting(
        *("-m", "--metric", "metrics"),
        common=True,
        default=(),
        metavar="NAME",
        help="A measure such as ndcg@10; repeat the option or separate names with commas.",
    )
    match: str | None = setting(
        "--match",
        type=MATCHERS.core(),
        metavar="MODE",
        help=f"How a hit matches a target: {', '.join(MATCHERS.core())}.",
    )
    min_overlap: float = setting(
        "--min-overlap",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="Share of a target's lines that a hit must cover.",
    )
    ties: str | None = setting(
        "--ties",
        type=TIE_POLICIES,
        help="How to order hits with equal scores (default: as the engine; run files: trec10).",
    )
    level: float = setting(
        "--level",
        type=float,
        minimum=0,
        default=0.0,
        metavar="GRADE",
        help="Lowest grade that counts as relevant; by default any grade above 0.",
    )
    judged_only: bool = setting(
        "--judged-only",
        type=bool,
        default=False,
        help="Drop unjudged hits, after --depth is applied.",
    )
    depth: int | None = setting(
        "--depth", type=int, metavar="N", help="Score only the first N hits."
    )
    root: str = setting("--root", default="", metavar="DIR", help="Make paths relative to DIR.")
    strip_prefix: tuple[str, ...] = setting(
        "--strip-prefix",
        default=(),
        metavar="PREFIX",
        help="Remove PREFIX from the start of the run's paths or ids; may be repeated.",
    )
    cut_at: str = setting(
        "--cut-at",
        default="",
        metavar="TEXT",
        help="Cut the run's paths or ids at the last TEXT: '#' makes a.py#3 a hit on a.py.",
    )
    trec: bool = setting(
        "--trec",
        type=bool,
        default=False,
        help="Average over answered queries only, as trec_eval does.",
    )
    unit: str = ""

    def __post_init__(self) -> None:
        """Reject invalid settings before anything is read."""
        if self.ties is not None:
            check_policy(self.ties)
        if not isfinite(self.level):
            raise InputError(f"level {self.level} is not a valid grade; expected a finite number")
        if self.measures and not any(name.strip(" ,") for name in self.measures):
            raise InputError("empty measure; expected names such as ndcg@10")

    @property
    def respells(self) -> bool:
        """Return whether the paths of a run are changed before the comparison."""
        return bool(self.strip_prefix or self.cut_at)

    def parsed(self, truth: object = None) -> list[Measure]:
        """Return the measures to compute on *truth*; an unknown one raises InputError.

        The names are not parsed before, because a file of scores has measures of its own.
        """
        names = self.measures
        if not names:
            names = compared_by(truth) or DEFAULT_MEASURES
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

    level: float = setting(
        "--confidence",
        type=float,
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        help="Confidence level of the intervals, between 0 and 1.",
    )
    draws: int = setting(
        "--draws",
        type=int,
        default=9_999,
        show_default=True,
        metavar="N",
        help="Number of resamples for each test, and for intervals of fewer than 300 queries.",
    )
    seed: int = setting(
        "--seed", type=int, default=0, show_default=True, metavar="N", help="Random seed."
    )
    cluster: str | None = setting(
        "--cluster",
        metavar="TAG",
        help="Resample whole groups of queries with the same value of TAG (cluster bootstrap).",
    )
    pairs: str | None = setting(
        "--pairs",
        type=("all", "lead", "baseline"),
        help="all compares every pair of runs (default for up to 12 runs); lead does so on the "
        "first measure only (default for more); baseline compares each run with the first.",
    )
    correction: str | None = setting(
        "--correction",
        type=("maxt", "tukey", "holm", "bh", "none"),
        help="Correction for multiple comparisons; maxt by default, holm with --pairs baseline.",
    )
    wilcoxon: bool = setting(
        "--wilcoxon",
        type=bool,
        default=False,
        help="Add Wilcoxon's signed-rank test (it tests ranks, not means).",
    )
    margins: tuple[str, ...] = setting(
        *("--margin", "margins"),
        default=(),
        metavar="[MEASURE=]SIZE",
        help="A difference too small to matter, such as 0.02: say whether a run is not worse than "
        "the baseline by it, or equivalent; of the first measure without a name.",
    )
    human_sample: str | None = setting(
        "--human-sample",
        metavar="FILE|auto",
        help="Combine the labels of people for some queries with model labels for all of them "
        "(prediction-powered intervals): a file with the ids of these queries, or auto for those "
        "that karat judge --next has drawn.",
    )

    def __post_init__(self) -> None:
        """Reject a negative seed."""
        if self.seed < 0:
            raise InputError(f"seed {self.seed} is negative; expected 0 or more")
