"""Quality against latency, and the runs that no other beats on both."""

from typing import NamedTuple

from karat.report.findings.leaderboard import standings
from karat.report.findings.record import Findings

__all__ = ["ParetoPoint", "pareto"]


class ParetoPoint(NamedTuple):
    """One run by its median latency and its mean on the lead, with the interval of the mean."""

    run: int
    name: str
    milliseconds: float
    quality: float
    low: float | None
    high: float | None
    on_front: bool


def pareto(findings: Findings, measure: str | None = None) -> tuple[ParetoPoint, ...]:
    """Return the runs that were timed, the fastest first; of the lead without a *measure*.

    A run is on the front where no other is at least as good and as fast, and better in one.
    """
    comparison = findings.contest.comparison
    place = comparison.metrics.index(measure or findings.lead)
    timed = [
        (row.median_ms, mean, row)
        for row in standings(findings)
        if row.median_ms is not None and (mean := row.means[place].mean) is not None
    ]
    sign = -1.0 if comparison.metrics[place] in comparison.lower_is_better else 1.0
    points = [
        ParetoPoint(
            row.run,
            row.name,
            time,
            quality,
            row.means[place].interval.low,
            row.means[place].interval.high,
            not any(
                other_time <= time
                and sign * other >= sign * quality
                and (other_time, other) != (time, quality)
                for other_time, other, _ in timed
            ),
        )
        for time, quality, row in timed
    ]
    return tuple(sorted(points, key=lambda point: (point.milliseconds, -sign * point.quality)))
