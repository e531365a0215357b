"""A pilot: a small evaluation that shows how much the difference of two systems varies."""

from collections.abc import Sequence
from math import inf, isfinite, isnan
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.plan.spread import Design, Spread, Trials, spread_of
from karat.extensions.scores.readers import ScoreOptions, read_scores
from karat.extensions.scores.record import ScoreSet
from karat.extensions.scores.source import SOURCE


class Pilot(NamedTuple):
    """What a pilot says: the spread between two systems, its own design, and how full scores are.

    *headroom* is the distance of the best mean from the highest score, None without one. *full* is
    the share of the queries on which all systems have the highest score. The spread is that of one
    of *pairs* pairs. No two means differ by more than *largest*.
    """

    measure: str
    systems: tuple[str, str]
    spread: Spread
    design: Design
    best: str = ""
    headroom: float | None = None
    full: float = 0.0
    pairs: int = 1
    largest: float = inf


class Scores(NamedTuple):
    """The scores of systems on one measure, ``scores[system][query][trial]``, and their clusters.

    *high* is the score that cannot be improved, infinite if there is none; *largest* is how far
    apart two scores can be.
    """

    measure: str
    systems: dict[str, Trials]
    clusters: Sequence[str] | None
    high: float
    hits: bool
    largest: float


def read_pilot(
    names: Sequence[str], *, measure: str = "", cluster: str = "", options: ScoreOptions
) -> Pilot:
    """Return what the files *names* say: scores of any evaluation, or a gold set and runs.

    Of several systems, the pair with the first one counts whose differences have the median spread;
    those that lack half of the scores are left out.
    """
    if SOURCE.takes(names, ""):
        scores = _of_scores(read_scores(names, options).scores, measure, cluster)
    else:
        scores = _of_runs(names, measure, cluster)
    return pilot_of(scores, names[0])


def _of_scores(scores: ScoreSet, measure: str, cluster: str) -> Scores:
    chosen = scores.measure(measure) if measure else scores.measures[0]
    tag = cluster or scores.cluster
    if tag and tag not in scores.tags:
        known = ", ".join(scores.tags) or "none"
        raise InputError(f"{scores.name}: no tag {tag!r} for --cluster; its tags are: {known}")
    failed = scores.failure_score(chosen)
    return Scores(
        chosen.name,
        {
            system: list(scores.trial_scores(system, chosen.name, failed=failed))
            for system in scores.systems
        },
        scores.tags[tag] if tag else None,
        inf if chosen.lower_is_better else chosen.high,
        chosen.kind == "binary",
        chosen.high - chosen.low,
    )


def _of_runs(names: Sequence[str], measure: str, cluster: str) -> Scores:
    from karat.app.score import read_gold, run_name, score
    from karat.scoring.metrics import parse_all
    from karat.scoring.score import cluster_labels
    from karat.scoring.settings import Scoring

    gold = read_gold(names[0])
    chosen, *others = parse_all([measure or "ndcg@10"])
    if others:
        raise InputError(f"{measure}: a plan is for one measure; give one")
    scoring = Scoring(measures=(chosen.label,))
    systems: dict[str, Trials] = {}
    hits = True
    for number, name in enumerate(names[1:], 1):
        evaluation = score(gold, name, scoring=scoring)
        column = evaluation.table.columns[str(chosen)]
        systems[run_name(name, number)] = [[value] for value in column]
        hits = hits and all(value in (0.0, 1.0) for value in column if not isnan(value))
    if len(systems) < 2:
        raise InputError(
            f"{names[0]}: a pilot has two systems; expected a file of scores, or GOLD RUN RUN"
        )
    low, high = chosen.bounds
    return Scores(
        chosen.label,
        systems,
        cluster_labels(gold, cluster or None),
        high if chosen.definition.higher_is_better else inf,
        hits,
        high - low,
    )


def pilot_of(scores: Scores, name: str) -> Pilot:
    """Return what *scores* say, from a file called *name*."""
    first, *others = _most_complete(scores)
    if not others:
        raise InputError(
            f"{name}: only one system, {first!r}, has scores on most queries; expected a pilot "
            "with two or more"
        )
    design = _design(scores)
    known = {}
    for other in others:
        pair = scores.systems[first], scores.systems[other]
        spread = spread_of(*pair, scores.clusters, hits=scores.hits)
        if spread and spread.changed:
            known[other] = spread
    if not known:
        raise InputError(
            f"{name}: {scores.measure} differs on no query of {first!r} and another system; a "
            "plan needs a pilot in which they differ, or --deviation or --changed"
        )
    ordered = sorted(known, key=lambda each: known[each].of_unit(design))
    other = ordered[len(ordered) // 2]
    means = {system: _mean_of(trials) for system, trials in scores.systems.items()}
    best = max(means, key=lambda each: means[each])
    full = [
        all(value >= scores.high for value in query)
        for query in zip(*map(_query_means, scores.systems.values()), strict=True)
    ]
    return Pilot(
        scores.measure,
        (first, other),
        known[other],
        design,
        best,
        scores.high - means[best] if isfinite(scores.high) else None,
        sum(full) / len(full),
        len(known),
        scores.largest,
    )


def _most_complete(scores: Scores) -> list[str]:
    """Return the systems with at least half as many scores as the most complete one, in order."""
    counts = {
        system: sum(not isnan(mean) for mean in _query_means(trials))
        for system, trials in scores.systems.items()
    }
    most = max(counts.values())
    return [system for system, count in counts.items() if count >= most / 2]


def _design(scores: Scores) -> Design:
    """Return the design of the pilot; clusters have their mean size."""
    trials = scores.systems[_most_complete(scores)[0]]
    queries = len(trials)
    units = queries if scores.clusters is None else len(set(scores.clusters))
    repeated = max(sum(not isnan(score) for score in query) for query in trials)
    return Design(units, queries / units, max(1, repeated))


def _query_means(trials: Trials) -> list[float]:
    means = []
    for query in trials:
        known = [score for score in query if not isnan(score)]
        means.append(sum(known) / len(known) if known else float("nan"))
    return means


def _mean_of(trials: Trials) -> float:
    known = [mean for mean in _query_means(trials) if not isnan(mean)]
    return sum(known) / len(known) if known else float("-inf")
