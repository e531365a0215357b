"""How the scores of configurations changed over time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import NamedTuple

import numpy as np

from karat.errors import InputError
from karat.experiments.store import Experiment, Store
from karat.extensions.analyze.records import Trend, TrendPoint
from karat.extensions.analyze.scores import lead_scores, mean_interval
from karat.scoring.metrics import Measure, average
from karat.scoring.score import cluster_labels
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.stats import compare
from karat.scoring.whole_files import judge_whole_files

# Maximum number of runs of one configuration.
MOST_RUNS = 500


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
    past: dict[str, list[Past]] = {run.label: [] for run in experiment.runs}
    for label, runs in past.items():
        for run in store.past_runs(label, dataset=experiment.dataset, limit=MOST_RUNS):
            measured = store.measured(run.id)
            judged = judge_whole_files(gold, {label: measured.run}, scoring)
            runs.append(Past(run.id, run.ended, lead_scores(gold, measured, lead, judged)))
    clusters = cluster_labels(gold, confidence.cluster)
    with_runs = tuple(
        trend_of(label, runs, lead, confidence, clusters=clusters)
        for label, runs in past.items()
        if runs
    )
    if not with_runs:
        raise InputError(f"experiment {experiment.id} has no completed run yet")
    return with_runs


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
    change, so that a slow drift is noticed as well. A change is real if its interval excludes 0 and
    the sign-flip test agrees; p is multiplied by the number of runs that are tested. Queries that
    share a label in *clusters* are drawn and flipped together. A run with the scores of the one
    before, on every query, is unchanged.
    """
    ordered = sorted(past, key=lambda each: (each.when, each.run))
    tests = max(len(ordered) - 1, 1)
    level: list[Sequence[float]] = []
    points = []
    for number, (run, when, scores) in enumerate(ordered):
        interval = mean_interval(scores, lead, confidence, clusters)
        mean = average(scores)
        change = p = None
        verdict = "first"
        if number:
            compared = compare(
                np.array([np.mean(level, axis=0), scores])[:, :, None],
                systems=["level", "run"],
                metrics=[str(lead)],
                bounds=lead.bounds,
                level=confidence.level,
                draws=confidence.draws,
                seed=confidence.seed,
                clusters=clusters,
            )
            (difference,) = compared.differences
            change = difference.difference
            p = None if difference.p is None else min(1.0, difference.p * tests)
            verdict = "noise"
            if replace(difference, p_corrected=p).is_significant:
                verdict = "real"
            elif np.array_equal(scores, ordered[number - 1].scores, equal_nan=True):
                verdict = "unchanged"
        if verdict == "real":
            level = []
        level.append(scores)
        known = None if isnan(mean) else mean
        points.append(TrendPoint(run, when, known, interval, change, p, verdict))
    return Trend(label, str(lead), tuple(points))
