"""Scores of 0 and 1: the share of ones with its interval, and McNemar's test of a pair."""

from collections.abc import Sequence
from math import isnan, sqrt
from typing import NamedTuple

from karat.extensions.scores.record import ScoreSet
from karat.model.evaluation import ComparisonResult
from karat.report.section import ReportSection
from karat.report.table import Cell, Column, Table, number
from karat.scoring.stats import holm
from karat.scoring.stats.bootstrap import clopper_pearson
from karat.scoring.stats.moments import normal_quantile, sign_test

DIGITS = 3


class Proportion(NamedTuple):
    """The *hits* among *n* queries, with Wilson's interval and the exact one."""

    hits: int
    n: int
    wilson: tuple[float, float]
    exact: tuple[float, float]


class Discordance(NamedTuple):
    """How two systems differ on queries that both have: on how many only one of them passes.

    *p* is that of McNemar's exact test, two-sided.
    """

    both: int
    gained: int
    lost: int
    neither: int
    p: float


def wilson(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return Wilson's score interval, without a continuity correction.

    >>> [round(end, 4) for end in wilson(8, 10, 0.95)]
    [0.4902, 0.9433]
    """
    z = normal_quantile((1 + level) / 2)
    share, weight = hits / n, z * z / n
    centre = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * sqrt(share * (1 - share) / n + weight / (4 * n))
    # At the ends the formula gives 0 and 1 but for rounding.
    return 0.0 if hits == 0 else centre - reach, 1.0 if hits == n else centre + reach


def proportion(scores: Sequence[float], level: float) -> Proportion | None:
    """Return the share of ones among *scores* of 0 and 1; NaN is skipped. None without a score.

    >>> proportion([1, 0, 1, 1], 0.95).hits
    3
    """
    known = [score for score in scores if not isnan(score)]
    if not known:
        return None
    hits = round(sum(known))
    exact = clopper_pearson(hits, len(known), level)
    ends = (exact.low or 0.0, 1.0 if exact.high is None else exact.high)
    return Proportion(hits, len(known), wilson(hits, len(known), level), ends)


def change(before: Sequence[float], after: Sequence[float]) -> Discordance:
    """Return on how many queries 0 and 1 differ, with McNemar's exact test.

    >>> change([0, 0, 0, 1], [1, 1, 0, 1])
    Discordance(both=1, gained=2, lost=0, neither=1, p=0.5)
    """
    pairs = [
        (bool(one), bool(other))
        for one, other in zip(before, after, strict=True)
        if not (isnan(one) or isnan(other))
    ]
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    counts = pairs.count((True, True)), gained, lost, pairs.count((False, False))
    return Discordance(*counts, sign_test(gained, lost))


def proportion_section(
    scores: ScoreSet, contest: ComparisonResult, level: float
) -> ReportSection | None:
    """Return the section on the leading measure; None if its scores are not all 0 and 1.

    Queries that depend on each other have no such intervals.
    """
    comparison = contest.comparison
    lead = scores.measure(comparison.metrics[0])
    columns = {each.name: each.table.columns[lead.name] for each in contest.evaluations}
    known = {score for column in columns.values() for score in column if not isnan(score)}
    if not known or known - {0.0, 1.0} or contest.clusters:
        return None
    shares = {name: proportion(column, level) for name, column in columns.items()}
    percent = f"{level * 100:g}%"
    rates = Table(
        f"Share of ones, {lead.name}",
        (
            Column("system"),
            Column("ones", numeric=True),
            Column("queries", numeric=True),
            Column("share", numeric=True),
            Column(f"{percent} Wilson", numeric=True),
            Column(f"{percent} exact", numeric=True),
        ),
        tuple(
            (
                Cell(name, name),
                Cell(str(share.hits), share.hits),
                Cell(str(share.n), share.n),
                number(share.hits / share.n, digits=DIGITS),
                _ends(share.wilson),
                _ends(share.exact),
            )
            for name, share in shares.items()
            if share
        ),
        ("exact: Clopper and Pearson's, never below its level; Wilson's is shorter",),
    )
    baseline = comparison.baseline
    others = [name for name in columns if name != baseline]
    changes = [change(columns[baseline], columns[name]) for name in others]
    corrected = holm([each.p for each in changes])
    tests = Table(
        f"McNemar's exact test against {baseline}, {lead.name}",
        (
            Column("system"),
            *(Column(title, numeric=True) for title in ("both", "gained", "lost", "neither")),
            Column("p", numeric=True),
            Column("p, Holm", numeric=True),
        ),
        tuple(
            (
                Cell(name, name),
                *(Cell(str(count), count) for count in each[:4]),
                number(each.p, digits=4),
                number(p, digits=4),
            )
            for name, each, p in zip(others, changes, corrected, strict=True)
        ),
        (
            f"gained: only the system has a 1, lost: only {baseline}; Holm over "
            f"{len(others)} pairs. For 0 and 1 the paired randomisation test is the same test",
        ),
    )
    return ReportSection("Zeros and ones", (rates, tests) if others else (rates,))


def _ends(ends: tuple[float, float]) -> Cell:
    return Cell(f"[{ends[0]:.{DIGITS}f}, {ends[1]:.{DIGITS}f}]")
