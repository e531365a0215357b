"""Repeated trials of the same query: how much they vary, and how often all of them succeed."""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb, isnan, nan, sqrt
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.scores.record import ScoreMeasure, ScoreSet, ScoreStatus
from karat.report.table import Cell, Column, Table, number
from karat.system.words import first_few, join_names

PASS = re.compile(r"(?:(?P<measure>.+):)?pass(?P<kind>[\^@])(?P<k>[1-9]\d*)", re.IGNORECASE)


class Variance(NamedTuple):
    """The variance of a system's scores on a measure, by its source.

    *queries* is the variance of the true scores of queries, *trials* that of one trial around the
    true score of its query. *error* is the standard error of the mean with the trials there are,
    *least* the one that no number of trials could go below. *per_query* is the (harmonic) mean
    number of trials, and *n* the number of queries.
    """

    queries: float
    trials: float
    error: float
    least: float
    per_query: float
    n: int

    @property
    def share(self) -> float:
        """Return the share of the variance of a single score that is between trials."""
        total = self.queries + self.trials
        return self.trials / total if total else nan


def variance(scores: Sequence[Sequence[float]]) -> Variance | None:
    """Return the components of ``scores[query][trial]``; None without two trials of any query.

    The one-way analysis of variance with random queries; NaN is skipped. The variance between
    queries is unbiased for queries with equal numbers of trials, and not below 0.

    >>> variance([[1, 0], [1, 1], [0, 0], [0, 1]]).trials
    0.25
    """
    known = [[score for score in row if not isnan(score)] for row in scores]
    known = [row for row in known if row]
    n = len(known)
    repeated = [row for row in known if len(row) > 1]
    if n < 2 or not repeated:
        return None
    within = sum(_squares(row) for row in repeated) / sum(len(row) - 1 for row in repeated)
    means = [sum(row) / len(row) for row in known]
    of_means = _squares(means) / (n - 1)
    per_query = n / sum(1 / len(row) for row in known)
    between = max(0.0, of_means - within / per_query)
    return Variance(between, within, sqrt(of_means / n), sqrt(between / n), per_query, n)


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def pass_all(successes: int, trials: int, k: int) -> float:
    """Return the chance that *k* trials drawn without replacement all succeed (pass^k).

    >>> pass_all(3, 4, 2), pass_all(1, 4, 2)
    (0.5, 0.0)
    """
    return comb(successes, k) / comb(trials, k)


def pass_any(successes: int, trials: int, k: int) -> float:
    """Return the chance that one of *k* trials drawn without replacement succeeds (pass@k).

    >>> pass_any(1, 4, 2), pass_any(4, 4, 2)
    (0.5, 1.0)
    """
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_measures(scores: ScoreSet, names: Sequence[str]) -> ScoreSet:
    """Return *scores* with the measures *names*: those of the set, and ``pass^k`` or ``pass@k``.

    These are computed from the 0/1 measure named before a colon (``resolved:pass^3``), by default
    the first one. A failed trial is no success; a query with fewer than k trials has no score.
    """
    chosen: dict[str, ScoreMeasure] = {}
    values = {}
    known = {measure.name.lower() for measure in scores.measures}
    for name in names:
        form = None if name.lower() in known else PASS.fullmatch(name)
        if form is None:
            measure = scores.measure(name)
            chosen[measure.name], values[measure.name] = measure, scores.values[measure.name]
            continue
        column = _pass_column(scores, _binary(scores, form["measure"], name), form)
        chosen[name] = ScoreMeasure(name, "bounded", 0.0, 1.0)
        values[name] = column
    return replace(scores, measures=tuple(chosen.values()), values=values)


def _binary(scores: ScoreSet, wanted: str | None, name: str) -> ScoreMeasure:
    """Return the 0/1 measure that *name* is computed from, or raise InputError."""
    binary = [each for each in scores.measures if each.kind == "binary"]
    measure = scores.measure(wanted) if wanted else next(iter(binary), None)
    if measure is None or measure.kind != "binary":
        raise InputError(f"{name} needs a measure of 0 and 1; {scores.name} has none of that name")
    return measure


def _pass_column(scores: ScoreSet, measure: ScoreMeasure, form: "re.Match[str]") -> "array[float]":
    """Return pass^k or pass@k of every query, as the only one of its trials that has a score."""
    k = int(form["k"])
    if k > scores.trials:
        raise InputError(
            f"{form[0]} needs {k} trials of a query; {scores.name} has at most {scores.trials}"
        )
    chance = pass_all if form["kind"] == "^" else pass_any
    column = array("d", [nan]) * len(scores.statuses)
    at = 0
    for system in scores.systems:
        for trials in scores.trial_scores(system, measure.name, failed=0.0):
            known = [score for score in trials if not isnan(score)]
            if len(known) >= k:
                column[at] = chance(round(sum(known)), len(known), k)
            at += scores.trials
    return column


def variances(scores: ScoreSet, measure: str) -> dict[str, Variance]:
    """Return the components of variance of each system that has several trials."""
    failed = scores.failure_score(scores.measure(measure))
    known = {
        system: variance(list(scores.trial_scores(system, measure, failed=failed)))
        for system in scores.systems
    }
    return {system: each for system, each in known.items() if each is not None}


def trial_notes(scores: ScoreSet, measure: str) -> Iterator[str]:
    """Yield what trials add to the uncertainty of the mean of *measure*; nothing without trials."""
    known = variances(scores, measure)
    if not known:
        return
    shares = [each.share for each in known.values() if not isnan(each.share)]
    if not shares:
        yield f"{measure}: all trials of a query have the same score"
        return
    failed = {system: scores.count(system, ScoreStatus.ERROR) for system in scores.systems}
    if counts := [f"{count} of {name}" for name, count in failed.items() if count]:
        yield f"failed trials: {join_names(first_few(counts))}; each counts like a failed query"
    worst = max(known.values(), key=lambda each: each.error)
    yield (
        f"{scores.trials} trials of a query: {_range(shares)} of the variance of one {measure} is "
        f"between trials; more trials would lower the standard error of a mean from "
        f"{worst.error:.3f} to {worst.least:.3f} at most"
    )


def _range(shares: Sequence[float]) -> str:
    """Return the least and the most of *shares* in percent.

    >>> _range([0.25, 0.5]), _range([0.251, 0.249])
    ('25-50 %', '25 %')
    """
    least, most = (f"{share * 100:.0f}" for share in (min(shares), max(shares)))
    return f"{least} %" if least == most else f"{least}-{most} %"


def trial_table(scores: ScoreSet, measure: ScoreMeasure) -> Table | None:
    """Return the components of variance of each system on *measure*; None without trials."""
    known = variances(scores, measure.name)
    if not known:
        return None
    k = scores.trials
    names = [f"{measure.name}:pass{kind}{k}" for kind in "^@"] if measure.kind == "binary" else []
    passed = pass_measures(scores, names)
    rows = []
    for system, each in known.items():
        cells = [
            Cell(system, system),
            number(each.per_query, digits=1),
            number(sqrt(each.queries), digits=3),
            number(sqrt(each.trials), digits=3),
            number(each.share * 100, digits=0),
            number(each.error, digits=3),
            number(each.least, digits=3),
        ]
        for name in names:
            scored = [score for score in passed.column(system, name) if not isnan(score)]
            cells.append(number(sum(scored) / len(scored) if scored else None, digits=3))
        rows.append(tuple(cells))
    titles = ["trials", "sd of queries", "sd of trials", "% of trials", "error", "least error"]
    titles += [name.rpartition(":")[2] for name in names]
    return Table(
        f"Variance of {measure.name} over queries and trials",
        (Column("system"), *(Column(title, numeric=True) for title in titles)),
        tuple(rows),
        (
            "% of trials: the share of the variance of one score that is between trials; error: "
            "the standard error of the mean, least error: that with any number of trials",
        ),
    )
