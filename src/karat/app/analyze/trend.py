"""The scores of a configuration over time, and which changes are significant."""

from collections.abc import Sequence
from datetime import datetime
from math import isnan
from typing import NamedTuple

import numpy as np

from karat.errors import InputError
from karat.experiments.store import Experiment, RunStatus, Store
from karat.model import Dataset
from karat.model.analysis import Trend, TrendPoint
from karat.scoring.metrics import Measure, average
from karat.scoring.score import cluster_labels, evaluate_run, mean_intervals
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.stats import sign_flip
from karat.scoring.stats.arrays import paired_differences

__all__ = ["Past", "trend_of", "trends"]

# Maximum number of experiments that are searched.
MOST = 500


class Past(NamedTuple):
    """One run of a configuration: its id, when it ended, and its score on each query."""

    run: str
    when: datetime
    scores: Sequence[float]


def trends(
    store: Store,
    experiment: Experiment,
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
) -> tuple[Trend, ...]:
    """Return how the configurations of *experiment* did over time, on its gold set.

    A configuration is what has the same name; its runs are the completed ones of all experiments
    on the same gold set. All are scored again, in the same way.
    """
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    gold = store.dataset(experiment.dataset)
    lead = scoring.parsed(gold)[0]
    scoring = scoring.with_measures([lead])
    past: dict[str, list[Past]] = {run.label: [] for run in experiment.runs}
    for other in store.experiments(limit=MOST):
        if other.dataset != experiment.dataset:
            continue
        for run in other.runs:
            if run.label in past and run.status is RunStatus.COMPLETED:
                scores = _scores(gold, store, run.id, scoring)
                past[run.label].append(Past(run.id, run.ended or other.created, scores))
    clusters = cluster_labels(gold, confidence.cluster)
    found = tuple(
        trend_of(label, runs, lead, confidence, clusters=clusters)
        for label, runs in past.items()
        if runs
    )
    if not found:
        raise InputError(f"experiment {experiment.id} has no completed run yet")
    return found


def trend_of(
    label: str,
    past: Sequence[Past],
    lead: Measure,
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None = None,
) -> Trend:
    """Return the trend of *past*, all on the same queries.

    Each run is compared, query by query, with the mean of the runs since the last significant
    change, so that a slow drift is noticed as well. The p values are those of sign flips,
    multiplied by the number of runs that are tested. Queries that share a label in *clusters* are
    drawn and flipped together.
    """
    ordered = sorted(past, key=lambda each: (each.when, each.run))
    tests = max(len(ordered) - 1, 1)
    level: list[Sequence[float]] = []
    points = []
    for number, (run, when, scores) in enumerate(ordered):
        (interval,) = mean_intervals([scores], [lead], confidence, clusters=clusters)
        if interval is None:
            raise InputError(
                f"{lead} is not a mean over queries; expected a measure such as ndcg@10"
            )
        mean = average(scores)
        change = p = None
        verdict = "first"
        if number:
            # The mean of equal scores may differ from them in the last digit, which is not a
            # change.
            gaps = paired_differences(np.asarray(scores), np.mean(level, axis=0))
            (test,) = sign_flip(
                gaps, draws=confidence.draws, seed=confidence.seed, clusters=clusters
            )
            change, p = average(gaps.tolist()), min(1.0, test.p * tests)
            verdict = "real" if p <= round(1.0 - confidence.level, 12) else "noise"
        if verdict == "real":
            level = []
        level.append(scores)
        known = None if isnan(mean) else mean
        points.append(TrendPoint(run, when, known, interval, change, p, verdict))
    return Trend(label, str(lead), tuple(points))


def _scores(gold: Dataset, store: Store, run: str, scoring: Scoring) -> list[float]:
    measured = store.measured(run)
    evaluation = evaluate_run(
        gold, measured.run, scoring=scoring, confidence=None, slices={}, name=measured.name
    )
    (column,) = evaluation.table.columns.values()
    return list(column)
