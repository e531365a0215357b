"""Failures and missing scores, counted in both ways: as 0, and left out."""

from collections.abc import Sequence
from math import isnan, nan

import numpy as np

from karat.extensions.scores.record import ScoreMeasure, ScoreSet, ScoreStatus
from karat.model.comparison import Comparison
from karat.report.table import Cell, Column, Table, number, p_cell, range_cell
from karat.scoring.settings import Confidence
from karat.scoring.stats import compare
from karat.scoring.stats.arrays import FloatArray
from karat.system.words import counted

DIGITS = 3


def has_gaps(scores: ScoreSet, measure: ScoreMeasure) -> bool:
    """Return whether any system lacks a score of *measure*."""
    return any(isnan(score) for score in _values(scores, measure, failed=nan).flat)


def gap_table(
    scores: ScoreSet, measure: ScoreMeasure, confidence: Confidence, clusters: Sequence[str] | None
) -> Table:
    """Return each system twice: failures and missing scores as 0, and answered queries only."""
    zeros = _values(scores, measure, failed=0.0)
    ways = {
        "as 0": np.where(np.isnan(zeros), 0.0, zeros),
        "left out": _values(scores, measure, failed=nan),
    }
    rows = []
    for way, values in ways.items():
        comparison = _compared(scores, measure, values, confidence, clusters)
        baseline = comparison.baseline
        for index, system in enumerate(scores.systems):
            mean = comparison.mean(system, measure.name)
            cells = [
                Cell(way if index == 0 else "", way),
                Cell(system, system),
                Cell(str(mean.n), mean.n),
                number(mean.mean, digits=DIGITS),
            ]
            if system == baseline:
                cells += [Cell("baseline"), Cell(""), Cell("")]
            else:
                entry = comparison.difference(baseline, system, measure.name)
                cells += [
                    number(entry.difference, signed=True, digits=DIGITS),
                    range_cell(entry.interval, signed=True),
                    p_cell(entry.p_corrected),
                ]
            rows.append(tuple(cells))
    return Table(
        f"{measure.name}: failures and missing scores counted in both ways",
        (
            Column("they count"),
            Column("system"),
            Column("n", numeric=True),
            Column("mean", numeric=True),
            Column("change", numeric=True),
            Column(f"{confidence.level * 100:g}% interval", numeric=True, spare=1),
            Column("p", numeric=True),
        ),
        tuple(rows),
        (_counts(scores, measure),),
        grouped=True,
    )


def _values(scores: ScoreSet, measure: ScoreMeasure, *, failed: float) -> FloatArray:
    columns = [scores.column(system, measure.name, failed=failed) for system in scores.systems]
    return np.array(columns)


def _compared(
    scores: ScoreSet,
    measure: ScoreMeasure,
    values: FloatArray,
    confidence: Confidence,
    clusters: Sequence[str] | None,
) -> Comparison:
    return compare(
        values[:, :, None],
        systems=scores.systems,
        metrics=[measure.name],
        pairs="baseline",
        bounds=[(measure.low, measure.high)],
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=clusters,
        lower_is_better=[measure.name] if measure.lower_is_better else [],
    )


def _counts(scores: ScoreSet, measure: ScoreMeasure) -> str:
    """Return how many trials failed, and how many queries have no score, for each system."""
    parts = []
    for system in scores.systems:
        failed = scores.count(system, ScoreStatus.ERROR)
        gone = sum(map(isnan, scores.column(system, measure.name, failed=0.0)))
        if failed or gone:
            parts.append(f"{system} {counted(failed, 'failure')}, {gone} without a score")
    return "; ".join(parts)
